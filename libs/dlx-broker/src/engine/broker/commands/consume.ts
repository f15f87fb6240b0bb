import type { FieldTable } from '../../message/index.js';
import { emptyTable } from '../../message/index.js';
import { accessRefused, AmqpError, notImplemented, preconditionFailed } from '../errors.js';
import { checkLength, checkTable } from './input-checks.js';
import { checkConsumerArguments } from '../queue/argument-checks.js';
import type { Queue } from '../queue/queue.js';
import { replyQueue } from '../virtual-host/reply-addresses.js';
import type { ReceivingChannel } from '../channel/receiver.js';
import { Consumer } from '../channel/consumer.js';

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
  const priority = checkConsumerArguments(queue.declared, vhost.name, args);
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
