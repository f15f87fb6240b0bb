import { type FieldTable, isReserved } from '../../message/index.js';
import type { ChannelContext, ConnectionContext } from '../channel/context.js';
import { accessRefused, locked, noQueue, preconditionFailed } from '../errors.js';
import { checkLength, checkTable } from './input-checks.js';
import { checkDlxArgumentType, checkQueueArguments } from '../queue/argument-checks.js';
import { checkEquivalent } from '../queue/equivalence.js';
import type { Queue } from '../queue/queue.js';
import { checkServerNamed, queueTypeOf } from '../queue/queue-types.js';
import { replyQueue } from '../virtual-host/reply-addresses.js';
import type { VirtualHostCore } from '../virtual-host/core.js';

/** How a queue is declared: the arguments of queue.declare. */
export interface QueueOptions {
  readonly passive?: boolean;
  readonly durable?: boolean;
  readonly exclusive?: boolean;
  readonly autoDelete?: boolean;
  readonly arguments?: FieldTable;
}

/** The content of `queue.declare-ok` (rule O1). */
export interface QueueOk {
  readonly queue: string;
  readonly messageCount: number;
  readonly consumerCount: number;
}

/** Refuses names that are reserved for the broker (rule O3). @throws 403 */
export function checkedName(kind: 'queue' | 'exchange', name: string): string {
  if (isReserved(name)) throw accessRefused(`${kind} name '${name}' contains reserved prefix 'amq.*'`);
  return name;
}

/** CR and LF are removed from all names (rule O3). */
export const withoutLineEnds = (name: string): string => name.replaceAll(/[\r\n]/g, '');

/** `queue.declare` (sections F, O and D of the rules). */
export function declareQueue(channel: ChannelContext, name: string, options: QueueOptions, now: number): QueueOk {
  const { vhost } = channel;
  checkLength('queue name', name);
  checkTable('argument', options.arguments);
  const asked = withoutLineEnds(name);
  if (asked === replyQueue || asked.startsWith(`${replyQueue}.`)) return declareReplyQueue(vhost, asked);
  if (options.passive === true) return found(vhost.queueFor(channel.connection, asked), now);
  const args = options.arguments ?? new Map();
  const actual = asked === '' ? `amq.gen-${vhost.names.token()}` : checkedName('queue', asked);
  vhost.check(channel.connection.user, 'configure', 'queue', actual);
  const existing = vhost.queues.get(actual);
  if (existing !== undefined) return redeclared(existing, vhost, channel.connection, options, args, now);
  if (asked === '') checkServerNamed(args);
  return found(created(vhost, channel.connection, actual, options, args, now), now);
}

function redeclared(
  existing: Queue,
  vhost: VirtualHostCore,
  connection: ConnectionContext,
  options: QueueOptions,
  args: FieldTable,
  now: number,
): QueueOk {
  const owner = options.exclusive === true ? connection : undefined;
  if (existing.declared.owner !== owner) throw locked(existing.name, vhost.name);
  const asked = { durable: options.durable === true, autoDelete: options.autoDelete === true, arguments: args };
  checkEquivalent(existing.name, vhost.name, existing.declared, asked, vhost.profile);
  return found(existing, now);
}

function created(
  vhost: VirtualHostCore,
  connection: ConnectionContext,
  name: string,
  options: QueueOptions,
  args: FieldTable,
  now: number,
): Queue {
  const { durable = false, exclusive = false, autoDelete = false } = options;
  checkLimit(vhost, name);
  checkDlxArgumentType(name, vhost.name, args);
  const deadLetterExchange = args.get('x-dead-letter-exchange');
  if (deadLetterExchange?.type === 'S') {
    vhost.check(connection.user, 'read', 'queue', name); // rule N2
    vhost.check(connection.user, 'write', 'exchange', deadLetterExchange.value);
  }
  checkQueueArguments(name, vhost.name, args, durable, exclusive, autoDelete, vhost.profile);
  const owner = exclusive ? connection : undefined;
  return vhost.addQueue({ name, type: queueTypeOf(args), durable, autoDelete, owner, arguments: args }, now);
}

/** Rule N6: comes before all other checks of a new queue. @throws 406 */
function checkLimit(vhost: VirtualHostCore, name: string): void {
  const limit = vhost.limits.reachedBy('max-queues', vhost.queues.size);
  if (limit === undefined) return;
  throw preconditionFailed(
    `cannot declare queue '${name}': queue limit in vhost '${vhost.name}' (${limit}) is reached`,
  );
}

function found(queue: Queue, now: number): QueueOk {
  queue.touch(now);
  return { queue: queue.name, messageCount: queue.length, consumerCount: queue.consumers.announced };
}

/** The pseudo-queue always exists, a reply address exists as long as its channel (rule S2). */
function declareReplyQueue(vhost: VirtualHostCore, name: string): QueueOk {
  if (name !== replyQueue && !vhost.replies.has(name)) throw noQueue(name, vhost.name);
  return { queue: name, messageCount: 0, consumerCount: 1 };
}
