import { emptyTable, type FieldTable, fieldTypeNames, integerOf } from '../../message/index.js';
import { Consumer } from '../channel/consumer.js';
import type { ReceivingChannel } from '../channel/receiver.js';
import type { QueueDeclared, QueueType } from '../declarations.js';
import { accessRefused, AmqpError, notImplemented, preconditionFailed } from '../errors.js';
import type { Profile } from '../profile.js';
import { integer, natural } from '../queue/argument-values.js';
import { isOn, queueArgument, queueArguments, wrongValue } from '../queue/arguments.js';
import type { Queue } from '../queue/queue.js';
import { replyQueue } from '../virtual-host/reply-addresses.js';
import { checkLength, checkTable } from './checks.js';

/** What RabbitMQ calls the types in its error texts (rule D9). */
const queueTypeNames: Readonly<Record<QueueType, string>> = {
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

/** All other checks of a new queue, in RabbitMQ's order: values, arguments unknown to its type, properties (rules F9, D9, D1). */
export function checkQueueArguments(
  queue: string,
  vhost: string,
  args: FieldTable,
  durable: boolean,
  exclusive: boolean,
  autoDelete: boolean,
  profile: Profile,
): void {
  if (args.size > 0) {
    checkValue(queue, vhost, args, 'x-queue-type', profile);
    checkValuesAndKeys(queue, vhost, args, profile);
  }
  if (queueTypeOf(args) === 'classic') return;
  if (autoDelete) throw invalidProperty('auto-delete', queue, vhost);
  if (exclusive) throw invalidProperty('exclusive-owner', queue, vhost);
  if (!durable) throw invalidProperty('non-durable', queue, vhost);
}

/** Checks the arguments of a consumer (rules Q3, Q14). @returns its priority; 0 if the arguments have none */
function checkConsumerArguments(
  queue: Pick<QueueDeclared, 'name' | 'type'>,
  vhost: string,
  args: FieldTable,
  { checksAs43 }: Pick<Profile, 'checksAs43'>,
): number {
  const value = args.get('x-priority');
  const wrong = value && integer(value, args);
  if (wrong !== undefined) {
    throw preconditionFailed(`invalid arg 'x-priority' for ${here(queue.name, vhost)}: ${wrong}`);
  }
  const timeout = checksAs43 ? args.get('x-consumer-timeout') : undefined;
  if (timeout !== undefined) {
    if (queue.type === 'classic') throw unknownToType('x-consumer-timeout', queue.name, vhost, queue.type);
    const text = natural(timeout, args);
    if (text !== undefined) {
      throw preconditionFailed(`invalid arg 'x-consumer-timeout' for ${here(queue.name, vhost)}: ${text}`);
    }
  }
  if (args.has('x-stream-offset')) throw unknownToType('x-stream-offset', queue.name, vhost, queue.type);
  return value === undefined ? 0 : Number(integerOf(value));
}

function checkValuesAndKeys(queue: string, vhost: string, args: FieldTable, profile: Profile): void {
  const type = queueTypeOf(args);
  for (const row of queueArguments) {
    if (isOn(row, type, profile)) checkValue(queue, vhost, args, row.name, profile);
  }
  for (const name of args.keys()) {
    const row = queueArgument(name, profile); // unknown ones are accepted and kept
    if (row === undefined || isOn(row, type, profile)) continue;
    throw unknownToType(name, queue, vhost, type);
  }
}

function checkValue(queue: string, vhost: string, args: FieldTable, name: string, profile: Profile): void {
  const value = args.get(name);
  if (value === undefined) return;
  const row = queueArgument(name, profile);
  const wrong = row && wrongValue(row, value, args, profile);
  if (wrong !== undefined) throw preconditionFailed(`invalid arg '${name}' for ${here(queue, vhost)}: ${wrong}`);
}

const unknownToType = (argument: string, queue: string, vhost: string, type: QueueType) =>
  preconditionFailed(`invalid arg '${argument}' for ${here(queue, vhost)} of queue type ${queueTypeNames[type]}`);

const invalidProperty = (property: string, queue: string, vhost: string) =>
  preconditionFailed(`invalid property '${property}' for ${here(queue, vhost)}`);

const here = (queue: string, vhost: string): string => `queue '${queue}' in vhost '${vhost}'`;

/** How a channel consumes from a queue: the arguments of basic.consume. */
export interface ConsumeOptions {
  /** Empty or absent: the broker generates one (rule Q1). */
  readonly consumerTag?: string;
  readonly noAck?: boolean;
  readonly exclusive?: boolean;
  /** `x-priority` (rule Q3). */
  readonly arguments?: FieldTable;
}

/** `basic.consume` (section Q of the rules). @returns the consumer's tag */
export function consume(channel: ReceivingChannel, queueName: string, options: ConsumeOptions): string {
  const given = options.consumerTag ?? '';
  checkLength('consumer tag', given);
  checkTable('argument', options.arguments);
  if (given !== '' && channel.receiver.has(given)) {
    throw new AmqpError('NOT_ALLOWED', `attempt to reuse consumer tag '${given}'`);
  }
  const tag = given === '' ? `amq.ctag-${channel.vhost.names.token()}` : given;
  if (queueName === replyQueue) return consumeReplies(channel, tag, options);
  const { vhost } = channel;
  const name = channel.queueName(queueName);
  vhost.check(channel.connection.user, 'read', 'queue', name);
  const queue = vhost.queueFor(channel.connection, name);
  if (queue.declared.type === 'quorum' && channel.receiver.prefetch.limit > 0) {
    throw notImplemented(`queue '${name}' in vhost '${vhost.name}' does not support global qos`); // rule D10
  }
  const args = options.arguments ?? emptyTable;
  const priority = checkConsumerArguments(queue.declared, vhost.name, args, vhost.profile);
  const exclusive = options.exclusive === true;
  if (isTaken(queue, exclusive)) throw accessRefused(`queue '${name}' in vhost '${vhost.name}' in exclusive use`);
  const noAck = options.noAck === true;
  const { receiver } = channel;
  const { consumerPrefetch } = receiver;
  const consumer = new Consumer(receiver, tag, queue, noAck, exclusive, priority, consumerPrefetch, args);
  receiver.add(consumer);
  queue.addConsumer(consumer);
  return tag;
}

/** Rules Q2 and R3. */
function isTaken(queue: Queue, exclusive: boolean): boolean {
  const { consumers, declared } = queue;
  if (consumers.singleActive) return exclusive && declared.type === 'classic';
  return consumers.hasExclusive || (exclusive && consumers.count > 0);
}

/** Rule S1. */
function consumeReplies(channel: ReceivingChannel, tag: string, options: ConsumeOptions): string {
  if (options.noAck !== true) throw preconditionFailed('reply consumer cannot acknowledge');
  channel.receiver.takeReplies(tag);
  return tag;
}
