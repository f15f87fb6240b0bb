import type { Letter, RedriveTask } from '../api/types';

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

/** The first line of a body, for a list. */
export function snippetOf({ payload, payload_encoding, payload_bytes }: Letter): string {
  if (payload === null) return 'the body cannot be read';
  if (payload_encoding === 'base64') return `${payload_bytes} bytes, not text`;
  return payload.length === 0 ? 'empty body' : payload.slice(0, 240).replace(/\s+/g, ' ');
}

/** Since when a message is dead: milliseconds since 1970, or null if it never died. */
export const diedAt = ({ deaths }: Letter): number | null => deaths[0]?.time ?? null;

/** True while a redrive may still move messages. */
export const isOpen = ({ state }: Pick<RedriveTask, 'state'>): boolean =>
  state === 'running' || state === 'paused' || state === 'tripped';

/** A number of messages in words: `1 message`, `2,000 messages`. */
export const messages = (count: number): string =>
  `${count.toLocaleString('en-GB')} ${count === 1 ? 'message' : 'messages'}`;

/** The share of a redrive that is done, 0 to 1. @param expected the messages of its dry run, if they are known */
export function doneShare(task: RedriveTask, expected?: number): number {
  if (!isOpen(task)) return task.state === 'completed' ? 1 : share(task.moved + task.left, total(task, expected));
  return share(task.moved + task.left + task.gone, total(task, expected));
}

/** The messages that a redrive is expected to move or leave. Without a dry run it is an upper bound. */
const total = (task: RedriveTask, expected: number | undefined): number =>
  Math.min(expected ?? task.ids ?? task.ready_at_start, task.limit ?? Infinity);

const share = (part: number, whole: number): number => (whole <= 0 ? 0 : Math.min(1, part / whole));
