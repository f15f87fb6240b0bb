import { shownLines } from '../../platform/index.js';
import { prettyColumns } from './columns.js';
import { duration, oneLine, when } from './shown.js';

/** What is shown of a message; the API has more. */
interface Letter {
  readonly id: string;
  readonly exchange: string;
  readonly routing_key: string;
  readonly origin: { readonly exchange: string; readonly routing_key: string; readonly proven?: boolean } | null;
  readonly redrives?: number;
  readonly error: { readonly class?: string; readonly message?: string } | null;
  /** Absent in the answers of earlier versions, as are the errors. */
  readonly fingerprint?: string | null;
  readonly errors?: readonly PastError[];
  readonly errors_omitted?: number;
  readonly died_at?: number | null;
  readonly deaths: readonly Death[];
  readonly properties: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, { readonly value?: unknown }>>;
  readonly payload: string;
  readonly payload_encoding: string;
  readonly payload_bytes: number;
}

interface Death {
  readonly reason: string;
  readonly count: number;
  readonly queue: string;
  readonly exchange: string;
  readonly routing_keys: readonly string[];
  readonly time: number | null;
}

interface PastError {
  readonly attempt: number;
  readonly at: number;
  readonly name: string;
  readonly message: string;
  readonly handler?: string;
  readonly host?: string;
  readonly took?: number;
  readonly redrive?: number;
}

interface Page {
  readonly messages_ready: number;
  readonly items: readonly Letter[];
  readonly scanned: number;
  readonly complete: boolean;
}

/** With a question mark when only the headers of the message tell, which a client may have written. */
const address = (place: Letter['origin']): string =>
  place === null ? '' : `${place.exchange}/${place.routing_key}${place.proven === false ? ' (?)' : ''}`;
const isUnproven = ({ origin }: Letter): boolean => origin?.proven === false;

/** A line for each message: its last death, its origin, and the start of its body. */
export function lettersText(body: unknown): string {
  const { items, messages_ready: ready, scanned, complete } = body as Page;
  const rows = items.map((letter) => {
    const { reason, count, queue, time } = parkedFrom(letter) ?? letter.deaths[0] ?? { reason: '', queue: '' };
    return [
      letter.id,
      reason,
      count === undefined ? '' : String(count),
      queue,
      when(time),
      address(letter.origin),
      oneLine(letter.error?.class ?? '', 30),
      oneLine(letter.payload, 40),
    ];
  });
  const table = prettyColumns(['id', 'reason', 'count', 'died in', 'last died', 'from', 'error', 'body'], rows);
  const more = complete ? '' : ', and there is more';
  return `${table}\n${items.length} shown of ${ready} ready (${scanned} looked at${more})`;
}

/** The facts of a parked message: it failed in the queue of its handler as often as it was tried. Undefined if it died since, or is not parked. */
function parkedFrom({
  headers,
  died_at: diedAt,
}: Letter): (Partial<Death> & Pick<Death, 'reason' | 'queue'>) | undefined {
  const valueOf = (name: string): unknown => headers[name]?.value;
  if (valueOf('dlx-parked') !== true || headers['x-death'] !== undefined) return undefined;
  const [queue, attempts, since] = [valueOf('dlx-queue'), valueOf('dlx-attempt'), Number(valueOf('dlx-failing-since'))];
  const failed = diedAt ?? since;
  return {
    reason: 'parked',
    queue: typeof queue === 'string' ? queue : '',
    ...(typeof attempts === 'number' && { count: attempts }),
    time: isDate(failed) ? failed : null,
  };
}

/** True for a time that can be shown: a client may write any number. */
const isDate = (time: number): boolean => !Number.isNaN(new Date(time).getTime());

/** Everything about one message. */
export function letterText(body: unknown): string {
  const letter = body as Letter;
  const deaths = letter.deaths.map((death, at) => [
    death.reason,
    String(death.count),
    death.queue,
    `${death.exchange}/${death.routing_keys.join(',')}`,
    when(death.time),
    waited(death, letter.deaths[at + 1]),
  ]);
  const properties = Object.entries(letter.properties).map(([name, value]) => [name, JSON.stringify(value)]);
  const headers = Object.entries(letter.headers)
    .filter(([name]) => !isShownElsewhere(name))
    .map(([name, field]) => [name, JSON.stringify(field.value ?? field)]);
  const facts = [
    ['id', letter.id],
    ['published to', `${address(letter.origin)}${isUnproven(letter) ? ', as only its headers tell' : ''}`],
    ...(letter.error === null
      ? []
      : [['error', [letter.error.class, letter.error.message].filter((part) => part !== undefined).join(': ')]]),
    ...(letter.fingerprint ? [['fingerprint', letter.fingerprint]] : []),
    ...(letter.redrives ? [['redriven', String(letter.redrives)]] : []),
  ];
  return [
    prettyColumns(undefined, facts),
    deaths.length === 0
      ? ''
      : section('deaths, the newest first', prettyColumns(['reason', 'count', 'queue', 'by', 'time', 'after'], deaths)),
    errorsText(letter),
    section('properties', prettyColumns(undefined, properties)),
    section('headers', prettyColumns(undefined, headers)),
    section(`body (${letter.payload_bytes} bytes, ${letter.payload_encoding})`, shownLines(letter.payload)),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function errorsText({ errors = [], errors_omitted: omitted = 0 }: Letter): string {
  if (errors.length === 0) return '';
  const rows = errors.map((error) => [
    error.redrive === undefined ? String(error.attempt) : '',
    when(error.at),
    error.redrive === undefined ? oneLine(`${error.name}: ${error.message}`, 80) : `redriven (${error.redrive})`,
    error.handler ?? '',
    error.host ?? '',
    error.took === undefined ? '' : duration(error.took),
  ]);
  const more = omitted === 0 ? '' : `, ${omitted} before the last left out`;
  return section(
    `errors, the newest first${more}`,
    prettyColumns(['attempt', 'time', 'error', 'handler', 'host', 'took'], rows),
  );
}

/** How long after the death before it. */
const waited = ({ time }: Death, before: Death | undefined): string =>
  time === null || before === undefined || before.time === null || time < before.time
    ? '' // the time of an entry is that of its first death
    : duration(time - before.time);

/** They are shown as deaths and as errors. */
const isShownElsewhere = (name: string): boolean =>
  name === 'x-death' || name === 'dlx-deaths' || name === 'dlx-errors' || name.startsWith('x-first-death-');

const section = (title: string, text: string): string => (text === '' ? '' : `${title}\n\n${text}`);
