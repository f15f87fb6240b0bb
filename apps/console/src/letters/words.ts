import type { Letter, RedriveTask } from '../api/types';
import { count as shownCount } from '../ui/format';

/** Why messages stay, in words. The keys are those of `left_at`. */
const reasons: Readonly<Record<string, string>> = {
  unroutable: 'no queue is bound for this address',
  refused: 'a full queue refuses them',
  forbidden: 'you may not write to this exchange',
  no_exchange: 'the exchange does not exist',
  no_origin: 'no origin is known',
  unproven_origin: 'only headers name an origin, and a publisher may have written them',
};

/** Why messages stay, in words. */
export const whyLeft = (why: string): string => reasons[why] ?? why;

/** The reason under which a message is listed: `parked`, unless it died since, or that of its latest death. */
export const reasonOf = ({ deaths, headers }: Pick<Letter, 'deaths' | 'headers'>): string =>
  headers['dlx-parked']?.value === true && headers['x-death'] === undefined ? 'parked' : (deaths[0]?.reason ?? '');

/** The first line of a body, for a list. */
export function snippetOf({ payload, payload_encoding, payload_bytes }: Letter): string {
  if (payload === null) return 'the body cannot be read';
  if (payload_encoding === 'base64') return `${payload_bytes} bytes, not text`;
  return payload.length === 0 ? 'empty body' : payload.slice(0, 240).replace(/\s+/g, ' ');
}

/** When a message died, or failed last: milliseconds since 1970, or null if it never died. */
export const diedAt = ({ deaths, died_at }: Letter): number | null => died_at ?? deaths[0]?.time ?? null;

/** True while a redrive may still move messages. */
export const isOpen = ({ state }: Pick<RedriveTask, 'state'>): boolean =>
  state === 'running' || state === 'paused' || state === 'waiting';

/** A number of messages in words: `1 message`, `2,000 messages`. */
export const messages = (count: number): string => `${shownCount(count)} ${count === 1 ? 'message' : 'messages'}`;

/**
 * The share of a redrive that is done, 0 to 1.
 * @param expected the messages that its dry run found; without it the share is that of the examined messages
 */
export function doneShare(task: RedriveTask, expected?: number): number {
  if (task.state === 'done') return 1;
  const [part, whole] =
    expected === undefined
      ? [task.scanned, task.ids ?? task.ready_at_start]
      : [task.moved + task.left + task.gone, expected];
  const ofLimit = task.limit === null ? 0 : task.moved / task.limit;
  return Math.min(1, Math.max(ofLimit, whole <= 0 ? 0 : part / whole));
}

/** What a redrive is about, in words: `all messages`, `3 chosen messages`, `error TypeError, reason rejected`. */
export function subjectOf({ filter, ids, groups }: Pick<RedriveTask, 'filter' | 'ids' | 'groups'>): string {
  if (groups !== undefined) return `${groups.length} ${groups.length === 1 ? 'group' : 'groups'} of messages`;
  if (ids !== null) return ids === 1 ? '1 chosen message' : `${shownCount(ids)} chosen messages`;
  const parts = Object.entries(filter ?? {}).flatMap(([part, value]) =>
    part === 'headers' && typeof value === 'object' && value !== null
      ? Object.entries(value).map(([name, wanted]) => `header ${name}${wanted === null ? '' : `=${wanted}`}`)
      : [`${(partNames[part] ?? part).replaceAll('_', ' ')} ${value === '' ? '(none)' : String(value)}`],
  );
  return parts.length === 0 ? 'all messages' : parts.join(', ');
}

const partNames: Readonly<Record<string, string>> = { queue: 'died in', first_queue: 'died first in' };
