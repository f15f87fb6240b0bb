import type { QueueDeclared, QueueType } from '../declarations.js';
import { deniedFeature, preconditionFailed } from '../errors.js';
import { fieldTypeNames, integerOf } from '../../message/index.js';
import type { FieldTable } from '../../message/index.js';
import { integer } from './argument-values.js';
import { type Profile, profiles } from '../profile.js';
import { isKnown, queueArgument, queueArguments } from './arguments.js';
import { queueTypeNames, queueTypeOf } from './queue-types.js';

/**
 * The first check of a new queue's arguments (rule F9). The caller then checks the permissions of rule N2, and then calls
 * {@link checkQueueArguments}.
 */
export function checkDlxArgumentType(queue: string, vhost: string, args: FieldTable): void {
  const value = args.get('x-dead-letter-exchange');
  if (value === undefined || value.type === 'S') return;
  const type = fieldTypeNames[value.type];
  throw preconditionFailed(`invalid type '${type}' for arg 'x-dead-letter-exchange' in ${here(queue, vhost)}`);
}

/** All other checks of a new queue, in RabbitMQ's order: values, arguments unknown to its type, properties (rules F9, D9, W12, D1). */
export function checkQueueArguments(
  queue: string,
  vhost: string,
  args: FieldTable,
  durable: boolean,
  exclusive: boolean,
  autoDelete: boolean,
  profile: Profile = profiles['3.10'],
): void {
  if (args.size > 0) {
    checkValue(queue, vhost, args, 'x-queue-type', profile);
    checkValuesAndKeys(queue, vhost, args, profile);
  }
  if (profile.deniesTransientQueues && !durable && !exclusive) throw deniedFeature('transient_nonexcl_queues');
  if (queueTypeOf(args) === 'classic') return;
  if (autoDelete) throw invalidProperty('auto-delete', queue, vhost);
  if (exclusive) throw invalidProperty('exclusive-owner', queue, vhost);
  if (!durable) throw invalidProperty('non-durable', queue, vhost);
}

/** Checks the arguments of a consumer (rules Q3, Q14). @returns its priority; 0 if the arguments have none */
export function checkConsumerArguments(
  queue: Pick<QueueDeclared, 'name' | 'type'>,
  vhost: string,
  args: FieldTable,
): number {
  const value = args.get('x-priority');
  const wrong = value && integer(value, args);
  if (wrong !== undefined) {
    throw preconditionFailed(`invalid arg 'x-priority' for ${here(queue.name, vhost)}: ${wrong}`);
  }
  if (args.has('x-stream-offset')) throw unknownToType('x-stream-offset', queue.name, vhost, queue.type);
  return value === undefined ? 0 : Number(integerOf(value));
}

function checkValuesAndKeys(queue: string, vhost: string, args: FieldTable, profile: Profile): void {
  const type = queueTypeOf(args);
  for (const row of queueArguments) {
    if (row.on[type] !== undefined && isKnown(row, profile)) checkValue(queue, vhost, args, row.name, profile);
  }
  for (const name of args.keys()) {
    const row = queueArgument(name, profile); // unknown ones are accepted and kept
    if (row === undefined || row.on[type] !== undefined) continue;
    throw unknownToType(name, queue, vhost, type);
  }
}

function checkValue(queue: string, vhost: string, args: FieldTable, name: string, profile: Profile): void {
  const value = args.get(name);
  if (value === undefined) return;
  const wrong = queueArgument(name, profile)?.accepts(value, args);
  if (wrong !== undefined) throw preconditionFailed(`invalid arg '${name}' for ${here(queue, vhost)}: ${wrong}`);
}

const unknownToType = (argument: string, queue: string, vhost: string, type: QueueType) =>
  preconditionFailed(`invalid arg '${argument}' for ${here(queue, vhost)} of queue type ${queueTypeNames[type]}`);

const invalidProperty = (property: string, queue: string, vhost: string) =>
  preconditionFailed(`invalid property '${property}' for ${here(queue, vhost)}`);

const here = (queue: string, vhost: string): string => `queue '${queue}' in vhost '${vhost}'`;
