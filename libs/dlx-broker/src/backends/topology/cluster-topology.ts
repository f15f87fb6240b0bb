import { queueArguments as known, refusesWhenFull } from '../../engine/broker/index.js';
import { type Field, int32, longstr } from '../../engine/message/index.js';
import type { QueueDeclaration, Topology } from './topology.js';

/** How queues are declared on a cluster. */
export interface ClusterOptions {
  /** The `x-delivery-limit` of quorum queues that have a dead-letter exchange and declare no limit. Default 20. */
  readonly deliveryLimit?: number;
}

/** A topology for a cluster. */
export interface ClusterTopology {
  readonly topology: Topology;
  /** The differences from the declarations, for the log: one line for each queue and reason. */
  readonly notes: readonly string[];
}

/**
 * Makes quorum queues of all durable queues, with the arguments by which no dead letter is lost (rule M1): the same arguments as
 * `dlx-broker definitions --quorum` writes. A queue that declares `x-queue-type: classic` stays classic. A quorum queue that declares
 * a dead-letter strategy keeps all of its arguments. A queue that cannot be a quorum queue stays classic, and the notes name it.
 */
export function clusterTopology(topology: Topology, options: ClusterOptions = {}): ClusterTopology {
  const notes: string[] = [];
  const queues = topology.queues.map((queue) => onCluster(queue, options, notes));
  return { topology: { ...topology, queues }, notes };
}

function onCluster(queue: QueueDeclaration, options: ClusterOptions, notes: string[]): QueueDeclaration {
  const { name, arguments: args, origin } = queue;
  const type = args.get('x-queue-type')?.value;
  if (type !== undefined && (type !== 'quorum' || args.has('x-dead-letter-strategy'))) return queue;
  const form: QueueForm = { ...queue, names: [...args.keys()], value: (argument) => args.get(argument)?.value };
  const note = (text: string): void =>
    void notes.push(`queue '${name}'${origin === undefined ? '' : ` (${origin})`} ${text}`);
  const why = type === undefined ? staysClassic(form) : undefined;
  if (why !== undefined) {
    note(`stays classic: ${why}`);
    return queue;
  }
  const { removed, set, notes: differences } = quorumForm(form, options.deliveryLimit);
  const made = new Map<string, Field>(args);
  for (const argument of removed) made.delete(argument);
  for (const [argument, value] of set) made.set(argument, typeof value === 'string' ? longstr(value) : int32(value));
  for (const text of differences) note(text);
  return { ...queue, arguments: made };
}

/**
 * The default `x-delivery-limit` on a cluster. On RabbitMQ before 4.3 every return to the queue counts, also the return when a channel
 * closes: a rolling restart would use up a smaller limit.
 */
const clusterDeliveryLimit = 20;

/**
 * As good as no limit: the largest `x-delivery-limit`. RabbitMQ 4 gives a quorum queue that names none a limit of 20, and drops what
 * returns more often if the queue has no dead-letter exchange (rule W6).
 */
export const noDeliveryLimit = 2_147_483_647;

/** A declared queue, as far as its type depends on it. Values are as JavaScript has them. */
export interface QueueForm {
  readonly durable: boolean;
  readonly exclusive: boolean;
  readonly autoDelete: boolean;
  /** The names of its arguments. */
  readonly names: readonly string[];
  /** The value of an argument, or of the policy that stands in for it; undefined when neither is there. */
  value(argument: string): unknown;
}

/** The changes that make a quorum queue of a classic queue. All other arguments stay. */
export interface QuorumForm {
  readonly removed: readonly string[];
  readonly set: ReadonlyMap<string, string | number>;
  /** The differences, each as a string that follows the name of the queue. */
  readonly notes: readonly string[];
}

/** @returns why a queue cannot be a quorum queue, or loses messages as one; undefined when it can */
export function staysClassic(queue: QueueForm): string | undefined {
  if (queue.exclusive) return 'it is exclusive';
  if (queue.autoDelete) return 'it is deleted with its last consumer';
  if (!queue.durable) return 'it is not durable';
  if (queue.value('x-expires') !== undefined)
    return 'it has x-expires, and would be deleted together with dead letters that still wait for their target';
  return undefined;
}

/** The arguments that only a classic queue has: a quorum queue is refused with one of them. */
const classicOnly: ReadonlySet<string> = new Set(
  known.filter(({ on }) => 'classic' in on && !('quorum' in on)).map(({ name }) => name),
);

/**
 * A quorum queue whose dead letters are not lost (rule M1): at-least-once and reject-publish as a pair, and a delivery limit. A queue
 * without a dead-letter exchange gets no limit: beyond it messages would be dropped.
 */
export function quorumForm(queue: QueueForm, deliveryLimit = clusterDeliveryLimit): QuorumForm {
  const removed = queue.names.filter((name) => classicOnly.has(name));
  const set = new Map<string, string | number>([['x-queue-type', 'quorum']]);
  const notes = removed.map((name) => `loses ${name}`);
  const hasLimit = queue.value('x-max-length') !== undefined || queue.value('x-max-length-bytes') !== undefined;
  const overflow = queue.value('x-overflow');
  const dropsHead = hasLimit && !refusesWhenFull(overflow);
  if (overflow === 'reject-publish-dlx') {
    set.set('x-overflow', 'reject-publish');
    notes.push('no longer dead-letters what it refuses: its x-overflow becomes reject-publish');
  }
  const isDying = queue.value('x-dead-letter-exchange') !== undefined;
  if (queue.value('x-delivery-limit') === undefined)
    set.set('x-delivery-limit', isDying ? deliveryLimit : noDeliveryLimit);
  if (!isDying) return { removed, set, notes };
  if (dropsHead) {
    notes.push('dead-letters at most once: it drops its oldest message when it is full, which at-least-once forbids');
    return { removed, set, notes };
  }
  return {
    removed,
    set: set.set('x-dead-letter-strategy', 'at-least-once').set('x-overflow', 'reject-publish'),
    notes,
  };
}
