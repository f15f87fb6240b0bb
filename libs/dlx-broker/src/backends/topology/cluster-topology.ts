import { type Field, int32, longstr } from '../../engine/message/index.js';
import { clusterDeliveryLimit, type QueueForm, quorumForm, staysClassic } from './quorum-form.js';
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
  const { removed, set, notes: differences } = quorumForm(form, options.deliveryLimit ?? clusterDeliveryLimit);
  const made = new Map<string, Field>(args);
  for (const argument of removed) made.delete(argument);
  for (const [argument, value] of set) made.set(argument, typeof value === 'string' ? longstr(value) : int32(value));
  for (const text of differences) note(text);
  return { ...queue, arguments: made };
}
