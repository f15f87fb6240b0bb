import { type Queue, type SettingSource, settingSources } from '../../../engine/broker/index.js';
import { fieldToJson } from '../../api/field-json.js';
import type { Columns } from '../../api/lists.js';
import { declaredQueueColumns } from '../../api/views/queue-columns.js';
import type { ApiRequest } from '../../http/resource.js';
import type { Management } from '../../management.js';
import type { Measures } from '../../statistics/measures.js';
import { queueSeries } from '../../statistics/series.js';
import { type DeadLetterSign, oldestIn } from '../letter-facts.js';
import { pauseToJson, reasonsFor } from '../pause.js';

/** The name of the policy that gives a value; null for an argument and a default. */
function policyOf({ inForce: { policy, operatorPolicy } }: Queue, by: SettingSource['by']): string | null {
  if (by === 'policy') return policy?.name ?? null;
  return by === 'operator policy' ? (operatorPolicy?.name ?? null) : null;
}

/** The settings by which a queue acts, each with its source and with the values that another one overrides. */
export const settingsToJson = (queue: Queue): readonly object[] =>
  sourcesOf(queue).map((source) => ({
    key: source.key,
    value: valueOf(queue, source, source),
    source: source.by,
    name: policyOf(queue, source.by),
    overridden: source.overridden.map((given) => ({
      value: valueOf(queue, source, given),
      source: given.by,
      name: policyOf(queue, given.by),
    })),
    effect: source.hasEffect,
  }));

export const sourcesOf = (queue: Queue): readonly SettingSource[] => settingSources(queue, queue.home.profile);

/** Where a setting comes from, as a string for people. */
export function sourceText(queue: Queue, by: SettingSource['by']): string {
  const policy = policyOf(queue, by);
  return policy === null ? by : `${by} ${policy}`;
}

/** A value as JSON. An argument without effect may be of any type, and JSON has not all of them. */
function valueOf(
  { declared }: Queue,
  { key, hasEffect }: SettingSource,
  { value, by }: Pick<SettingSource, 'value' | 'by'>,
): unknown {
  const field = hasEffect || by !== 'argument' ? undefined : declared.arguments.get(`x-${key}`);
  return field === undefined ? (value ?? null) : fieldToJson(field);
}

/** A short sign for something that is set for a queue, and a text that says what. */
interface Feature {
  readonly letter: string;
  readonly tip: string;
}

/** The letters of settings in the order of RabbitMQ's page. */
const letters: ReadonlyMap<string, string> = new Map([
  ['message-ttl', 'TTL'],
  ['expires', 'Exp'],
  ['max-length', 'Lim'],
  ['max-length-bytes', 'LimB'],
  ['delivery-limit', 'DlL'],
  ['overflow', 'Ovfl'],
  ['single-active-consumer', 'SAC'],
  ['dead-letter-exchange', 'DLX'],
  ['dead-letter-routing-key', 'DLK'],
  ['max-priority', 'Pri'],
]);

/** The most characters of a text. */
const longestTip = 400;

/** The features of a queue by RabbitMQ's letters. Unlike RabbitMQ's page they include what policies set. */
function featuresOf(queue: Queue): readonly Feature[] {
  const { declared, inForce } = queue;
  const sources = sourcesOf(queue);
  const byKey = new Map(sources.map((source) => [source.key, source]));
  const found: Feature[] = [];
  const add = (letter: string, tip: string): void => void found.push({ letter, tip: tip.slice(0, longestTip) });
  if (declared.durable) add('D', 'durable');
  if (declared.autoDelete) add('AD', 'auto-delete');
  if (declared.owner !== undefined) add('Excl', 'exclusive');
  for (const [key, letter] of letters) {
    const source = byKey.get(key);
    if (source !== undefined && isSet(source)) {
      add(letter, `${key}: ${String(source.value)} (${sourceText(queue, source.by)})`);
    }
  }
  const others = otherArguments(queue, byKey);
  if (others.length > 0) add('Args', others.join(', '));
  if (inForce.policy !== undefined) add('Pol', `policy: ${inForce.policy.name}`);
  if (inForce.operatorPolicy !== undefined) add('OP', `operator policy: ${inForce.operatorPolicy.name}`);
  return found;
}

const isSet = ({ value, by }: SettingSource): boolean => by !== 'default' && value !== undefined && value !== false;

/** The arguments without a letter. */
function otherArguments({ declared }: Queue, byKey: ReadonlyMap<string, SettingSource>): readonly string[] {
  const others: string[] = [];
  for (const [name, field] of declared.arguments) {
    const key = name.replace(/^x-/, '');
    if (name === 'x-queue-type' || (letters.has(key) && byKey.get(key)?.hasEffect === true)) continue;
    others.push(`${name}: ${textOf(fieldToJson(field))}`);
  }
  return others;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** The columns by which a list of queues can be sorted: every one but the letters. */
type QueueColumns = Columns<Queue>;

/**
 * The columns of a queue in the lists of the console. Rates are per second.
 * @param signOf see {@link deadLetterSign}
 */
export function queueRowColumns(
  request: ApiRequest,
  management: Management,
  signOf: (queue: Queue) => DeadLetterSign | undefined,
): QueueColumns {
  const measures = management.measures(request);
  const seesReason = reasonsFor(management.broker, request.user);
  const { vhost, name, type, durable, exclusive, auto_delete } = declaredQueueColumns(management.nodeName);
  const rate = (of: string) => (queue: Queue) => measures.rate(queue, queueSeries, of);
  return {
    ...({ vhost, name, type, durable, exclusive, auto_delete } as QueueColumns),
    state: (queue) => stateOf(queue, measures),
    paused: (queue) => pauseToJson(queue, seesReason),
    features: featuresOf,
    policy: ({ inForce }) => inForce.policy?.name ?? null,
    operator_policy: ({ inForce }) => inForce.operatorPolicy?.name ?? null,
    messages_ready: ({ length }) => length,
    messages_unacknowledged: ({ unacked }) => unacked,
    messages_dlx: ({ retained }) => retained,
    consumers: ({ consumers }) => consumers.count,
    publish_rate: rate('publish'),
    deliver_rate: rate('deliver_get'),
    dead_in_rate: rate('dead_letters_in'),
    dead_out_rate: rate('dead_letters_out'),
    dead_letters_in: ({ counters }) => counters.deadLettersIn,
    oldest: (queue) => oldestIn(queue) ?? null,
    dead_letter_queue: (queue) => signOf(queue) !== undefined,
    dead_letter_proven: (queue) => {
      const sign = signOf(queue);
      return sign === undefined ? null : sign === 'proven';
    },
  };
}

/**
 * `paused`: an operator stopped its deliveries. `stalled`: the body of its next message cannot be read now. `idle`: not used in the last
 * second.
 */
function stateOf({ stalled, pausing, lastUse }: Queue, measures: Measures): 'paused' | 'stalled' | 'idle' | 'running' {
  if (pausing.state !== undefined) return 'paused';
  if (stalled !== undefined) return 'stalled';
  return measures.idle(lastUse) === undefined ? 'running' : 'idle';
}
