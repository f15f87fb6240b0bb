import { prettyColumns } from './columns.js';
import { when } from './shown.js';

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

/** A column of virtual hosts, unless all rows are of one. */
export function vhostColumn<T extends { readonly vhost: string | null }>(
  rows: readonly T[],
): readonly ((row: T) => string)[] {
  const [first] = rows;
  return rows.some(({ vhost }) => vhost !== first?.vhost) ? [({ vhost }) => vhost ?? 'several'] : [];
}

const rate = (perSecond: number | null): string => perSecond?.toFixed(1) ?? '';

/** A line for each dead-letter queue: how much lies there, since when, and how much comes and goes. */
export function queuesText(body: unknown): string {
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
