import type { FieldTable } from '../../libs/dlx-broker/src/engine/message/index.js';
import type { QueueDeclaration, Topology } from '../../libs/dlx-broker/src/backends/topology/index.js';

/** A queue as a backend declares it: durable, unless the test says more. */
export const queueNamed = (
  name: string,
  args: FieldTable = new Map(),
  more: Partial<QueueDeclaration> = {},
): QueueDeclaration => ({ name, durable: true, exclusive: false, autoDelete: false, arguments: args, ...more });

/** A topology of queues only. */
export const topologyOf = (...queues: QueueDeclaration[]): Topology => ({ exchanges: [], queues, bindings: [] });
