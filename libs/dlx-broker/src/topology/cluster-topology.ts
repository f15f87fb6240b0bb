import { type Field, int32, longstr } from '../message/index.js';
import { clusterDeliveryLimit, type QueueForm, quorumForm, staysClassic } from './quorum-form.js';
import type { QueueDeclaration, Topology } from './topology.js';

/** How queues are declared on a cluster. */
export interface ClusterOptions {
  /** Deliveries that may fail, of quorum queues with a dead-letter exchange that say nothing else. Default 20. */
  readonly deliveryLimit?: number;
}

/** A topology for a cluster. */
export interface ClusterTopology {
  readonly topology: Topology;
  /** What is not as it was declared, a line for each queue and reason, for the log. */
  readonly notes: readonly string[];
}

/**
 * Makes quorum queues of all durable queues, with the arguments by which no dead letter is lost (rule M1): the same arguments as
 * `dlx-broker definitions --quorum` writes. A queue that names its type keeps it: `x-queue-type: classic` is a classic queue by
 * choice. So is a dead-letter strategy. A queue that cannot be a quorum queue stays classic, and is named in the notes.
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
