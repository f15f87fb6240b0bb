import { prettyColumns } from './columns.js';
import { vhostColumn } from './queues.js';
import { duration, oneLine, when } from './shown.js';

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
export function groupsText(body: unknown): string {
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
export function allGroupsText(body: unknown, now: number): string {
  const answer = body as {
    readonly groups: readonly Group[];
    readonly queues: number;
    readonly others: number;
    readonly scanned: number;
    readonly complete: boolean;
    readonly skipped: readonly { readonly vhost: string; readonly queue: string; readonly why: string }[];
    /** Absent in the answers of earlier versions. */
    readonly unproven?: readonly { readonly vhost: string; readonly queue: string }[];
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
    group.oldest === null ? '' : `${when(group.oldest)} (${duration(now - group.oldest)})`,
    group.example_id,
  ]);
  const head = ['count', ...vhost.map(() => 'vhost'), 'queue', 'reason', 'died first in', 'error', 'oldest', 'example'];
  return [
    prettyColumns(head, rows),
    ...(others > 0 ? [`${others} others`] : []),
    ...(skipped ?? []).map((one) => oneLine(`skipped: queue '${one.queue}' in vhost '${one.vhost}': ${one.why}`, 160)),
    ...(unproven ?? []).map((one) =>
      oneLine(`not proven: queue '${one.queue}' in vhost '${one.vhost}': only headers of its next message say so`, 160),
    ),
    `${answer.scanned} messages of ${answer.queues} queues looked at${answer.complete ? '' : ', and there are more'}`,
  ].join('\n');
}
