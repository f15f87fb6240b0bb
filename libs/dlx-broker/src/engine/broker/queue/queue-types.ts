import { preconditionFailed } from '../errors.js';
import type { FieldTable } from '../../message/index.js';
import type { QueueType } from '../declarations.js';

/** What RabbitMQ calls the types in its error texts (rule D9). */
export const queueTypeNames: Readonly<Record<QueueType, string>> = {
  classic: 'rabbit_classic_queue',
  quorum: 'rabbit_quorum_queue',
};

/** The queue type in checked arguments. Default: classic. */
export function queueTypeOf(args: FieldTable): QueueType {
  const asked = args.get('x-queue-type');
  return asked?.type === 'S' && asked.value === 'quorum' ? 'quorum' : 'classic';
}

/** Checks a declare with an empty name: only classic queues get a name from the server (rule D1). @throws 406 */
export function checkServerNamed(args: FieldTable): void {
  const type = queueTypeOf(args);
  if (type === 'classic') return;
  throw preconditionFailed(`Cannot declare a server-named queue for type ${queueTypeNames[type]}`);
}
