import { shownJson, shownLines } from '../../platform/index.js';
import { shownDuration } from '../../platform/options/index.js';
import type { Reply } from '../api.js';
import { CommandError, exit } from '../command-error.js';
import {
  ask,
  askOfQueue,
  type Call,
  type CommonFlags,
  placeOfIds,
  shownQueue,
  type WatchFlags,
  watching,
} from '../command.js';
import { oneLine, prettyColumns, vhostColumn, when } from '../text.js';
import { type FilterFlags, filterOf } from './filter.js';

export interface ListFlags extends CommonFlags, FilterFlags, WatchFlags {
  readonly by?: string;
  readonly limit?: string;
}

/** The dead letters of a queue, or how many there are of each kind; without a queue the dead-letter queues. */
export function list(call: Call<ListFlags>, queue: string | undefined): Promise<void> {
  const { flags, output } = call;
  const asked = queue === undefined ? () => askQueues(call) : () => askQueue(call, queue);
  const shown = queue === undefined ? queuesText : flags.by === undefined ? lettersText : groupsText;
  return watching(flags, async () => textOf(await asked(), flags, shown), output);
}

/** The groups over all dead-letter queues, or over one. */
export function groups({ api, flags, output, vhost }: Call<ListFlags>, queue: string | undefined): Promise<void> {
  const { diedIn, ...others } = flags;
  const query = {
    ...filterOf(others).query,
    ...(diedIn !== undefined && { died_in: diedIn }),
    ...(flags.vhost !== undefined && { vhost: flags.vhost }),
    ...(queue !== undefined && { queue, vhost }),
  };
  const missing = queue === undefined ? vhostIn(flags) : shownQueue(queue, vhost);
  const asked = async (): Promise<Reply> => {
    const reply = await ask(api, 'GET', ['dlx', 'groups'], missing, { query });
    // The server leaves out what does not exist. A queue that exists was searched or skipped.
    const { queues, skipped } = reply.body as { readonly queues: number; readonly skipped: readonly unknown[] };
    if (queue === undefined || queues > 0 || skipped.length > 0) return reply;
    throw new CommandError(`there is no ${missing}`, exit.data);
  };
  return watching(flags, async () => textOf(await asked(), flags, (body) => allGroupsText(body, Date.now())), output);
}

/** One message: where it died, why, its headers and its body. */
export async function show({ api, flags, output, vhost }: Call, queue: string, id: string): Promise<void> {
  const missing = `message ${id} ${placeOfIds(queue, vhost)}`;
  try {
    const reply = await ask(api, 'GET', ['dlx', 'queues', vhost, queue, 'messages', id], missing);
    output.out(textOf(reply, flags, letterText));
  } catch (error) {
    // The server answers 404 to both.
    if (error instanceof CommandError && error.code === exit.data) await askOfQueue(api, 'GET', [vhost, queue]);
    throw error;
  }
}

const textOf = ({ body, text }: Reply, { json }: CommonFlags, shown: (body: unknown) => string): string =>
  json === true ? shownJson(text) : shown(body);

function askQueue({ api, flags, vhost }: Call<ListFlags>, queue: string): Promise<Reply> {
  const { by, limit = '50' } = flags;
  const query = { ...filterOf(flags).query, ...(by === undefined ? { page_size: limit } : { by }) };
  return askOfQueue(api, 'GET', [vhost, queue, by === undefined ? 'messages' : 'groups'], { query });
}

/** The fullest queues first. */
function askQueues({ api, flags }: Call<ListFlags>): Promise<Reply> {
  const { by, limit = '500', vhost } = flags;
  if (by !== undefined || Object.keys(filterOf(flags).query).length > 0)
    throw new CommandError("filters and --by need a queue; 'dlx-broker dead-letters groups' has all", exit.usage);
  const order = { dead: 'true', sort: 'messages_ready', sort_reverse: 'true', page_size: limit };
  const query = vhost === undefined ? order : { ...order, vhost };
  return ask(api, 'GET', ['dlx', 'queues'], vhostIn(flags), { query });
}

/** What does not exist if no queue is named. */
const vhostIn = ({ vhost }: CommonFlags): string | undefined => (vhost === undefined ? undefined : `vhost '${vhost}'`);

/** The messages with one value of a property. */
interface GroupOfValue {
  readonly value: string;
  readonly count: number;
  readonly example_id: string;
  readonly oldest: number | null;
  readonly newest: number | null;
  /** The kind of error of the example. Only with fingerprints. */
  readonly error?: string | null;
}

/** A line for each group of messages, with its count. */
function groupsText(body: unknown): string {
  const { groups, others } = body as {
    readonly groups: readonly GroupOfValue[];
    readonly others: number;
  };
  // A fingerprint by itself says nothing to a reader.
  const withErrors = groups.some(({ error }) => error !== undefined);
  const rows = groups.map((group) => [
    String(group.count),
    oneLine(String(group.value), 60),
    ...(withErrors ? [oneLine(group.error ?? '', 60)] : []),
    group.example_id,
    when(group.oldest),
    when(group.newest),
  ]);
  const table = prettyColumns(['count', 'what', ...(withErrors ? ['error'] : []), 'example', 'oldest', 'newest'], rows);
  return others > 0 ? `${table}\n${others} others` : table;
}

interface Group {
  readonly vhost: string;
  readonly queue: string;
  readonly reason: string;
  readonly first_queue: string;
  readonly error: string;
  readonly count: number;
  readonly oldest: number | null;
  readonly example_id: string;
}

/** A line for each group of messages with one queue, one reason and one kind of error, the largest group first. */
function allGroupsText(body: unknown, now: number): string {
  const answer = body as {
    readonly groups: readonly Group[];
    readonly queues: number;
    readonly others: number;
    readonly scanned: number;
    readonly complete: boolean;
    readonly skipped: readonly { readonly vhost: string; readonly queue: string; readonly why: string }[];
    readonly unproven: readonly { readonly vhost: string; readonly queue: string }[];
  };
  const { groups, others, skipped, unproven } = answer;
  const vhost = vhostColumn(groups);
  const rows = groups.map((group) => [
    String(group.count),
    ...vhost.map((of) => of(group)),
    group.queue,
    group.reason,
    group.first_queue,
    oneLine(group.error, 60),
    group.oldest === null ? '' : `${when(group.oldest)} (${shownDuration(now - group.oldest)})`,
    group.example_id,
  ]);
  const head = ['count', ...vhost.map(() => 'vhost'), 'queue', 'reason', 'died first in', 'error', 'oldest', 'example'];
  return [
    prettyColumns(head, rows),
    ...(others > 0 ? [`${others} others`] : []),
    ...skipped.map((one) => oneLine(`skipped: queue '${one.queue}' in vhost '${one.vhost}': ${one.why}`, 160)),
    ...unproven.map((one) =>
      oneLine(`not proven: queue '${one.queue}' in vhost '${one.vhost}': only headers of its next message say so`, 160),
    ),
    `${answer.scanned} messages of ${answer.queues} queues looked at${answer.complete ? '' : ', and there are more'}`,
  ].join('\n');
}

interface QueueRow {
  readonly vhost: string;
  readonly name: string;
  readonly features: readonly { readonly letter: string }[];
  readonly messages_ready: number;
  readonly messages_unacknowledged: number;
  /** Null on a RabbitMQ, which does not count dead letters. */
  readonly dead_in_rate: number | null;
  readonly dead_out_rate: number | null;
  readonly oldest: number | null;
}

const rate = (perSecond: number | null): string => perSecond?.toFixed(1) ?? '';

/** A line for each dead-letter queue: how much lies there, since when, and how much comes and goes. */
function queuesText(body: unknown): string {
  const { items, filtered_count: count } = body as {
    readonly items: readonly QueueRow[];
    readonly filtered_count: number;
  };
  const vhost = vhostColumn(items);
  const rows = items.map((row) => [
    ...vhost.map((of) => of(row)),
    row.name,
    row.features.map(({ letter }) => letter).join(' '),
    String(row.messages_ready),
    String(row.messages_unacknowledged),
    rate(row.dead_in_rate),
    rate(row.dead_out_rate),
    when(row.oldest),
  ]);
  const head = [...vhost.map(() => 'vhost'), 'queue', 'features', 'ready', 'unacked', 'in/s', 'out/s', 'oldest'];
  const ready = items.reduce((sum, { messages_ready: more }) => sum + more, 0);
  return `${prettyColumns(head, rows)}\n${items.length} shown of ${count} dead-letter queues, with ${ready} ready`;
}

/** What is shown of a message; the API has more. */
interface Letter {
  readonly id: string;
  readonly exchange: string;
  readonly routing_key: string;
  readonly origin: { readonly exchange: string; readonly routing_key: string; readonly proven: boolean } | null;
  readonly redrives: number;
  readonly error: { readonly class?: string; readonly message?: string } | null;
  readonly fingerprint: string | null;
  /** Absent in a list. */
  readonly errors?: readonly PastError[];
  readonly errors_omitted?: number;
  readonly died_at: number | null;
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
function lettersText(body: unknown): string {
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
  const [queue, attempts] = [valueOf('dlx-queue'), valueOf('dlx-attempt')];
  return {
    reason: 'parked',
    queue: typeof queue === 'string' ? queue : '',
    ...(typeof attempts === 'number' && { count: attempts }),
    time: diedAt,
  };
}

/** Everything about one message. */
function letterText(body: unknown): string {
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
    error.took === undefined ? '' : shownDuration(error.took),
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
    : shownDuration(time - before.time);

/** They are shown as deaths and as errors. */
const isShownElsewhere = (name: string): boolean =>
  name === 'x-death' || name === 'dlx-deaths' || name === 'dlx-errors' || name.startsWith('x-first-death-');

const section = (title: string, text: string): string => (text === '' ? '' : `${title}\n\n${text}`);
