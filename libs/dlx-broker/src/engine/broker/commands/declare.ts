import {
  emptyTable,
  type Field,
  type FieldTable,
  fieldTypeNames,
  integerOf,
  isReserved,
  longstr,
} from '../../message/index.js';
import type { ChannelContext, ConnectionContext } from '../channel/context.js';
import type { QueueType } from '../declarations.js';
import { erlangTerm, fieldText } from '../erlang-terms.js';
import { accessRefused, AmqpError, locked, noExchange, noQueue, preconditionFailed } from '../errors.js';
import { routingTypeOf } from '../exchange/delayed-messages.js';
import { exchangeTypes, isExchangeType } from '../exchange/types.js';
import type { Profile } from '../profile.js';
import type { QueueArgument } from '../queue/argument-row.js';
import { isOn, queueArguments } from '../queue/arguments.js';
import type { Queue } from '../queue/queue.js';
import type { VirtualHostCore } from '../virtual-host/core.js';
import { replyQueue } from '../virtual-host/reply-addresses.js';
import { checkLength, checkTable } from './checks.js';
import { checkDlxArgumentType, checkQueueArguments, checkServerNamed, queueTypeOf } from './consume.js';

/**
 * Checks that a redeclare has the same property as the existing thing.
 * @param where `queue 'Q' in vhost 'V'`
 * @throws 406
 */
function checkSameProperty(name: string, current: boolean | string, received: boolean | string, where: string): void {
  if (current !== received) throw inequivalent(name, `'${received}'`, `'${current}'`, where);
}

/** Checks the same of an argument. Integers of all wire types are interchangeable (rules F10, F11). @throws 406 */
function checkSameArgument(name: string, current: Field | undefined, received: Field | undefined, where: string): void {
  if (isEquivalent(current, received)) return;
  const bothGiven = current !== undefined && received !== undefined;
  const show = bothGiven ? bareValue : typedValue;
  throw inequivalent(name, show(received), show(current), where);
}

function isEquivalent(one: Field | undefined, other: Field | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  const number = integerOf(one);
  if (number !== undefined) return number == integerOf(other); // == because either may be a bigint
  if (isBytes(one) && isBytes(other)) return erlangTerm(one) === erlangTerm(other);
  return one.type === other.type && erlangTerm(one) === erlangTerm(other);
}

/** RabbitMQ compares text and bytes as one type. */
const isBytes = (field: Field): boolean => field.type === 'S' || field.type === 'x';

const bareValue = (field: Field | undefined): string =>
  field === undefined || field.type === 'V' ? 'none' : `'${fieldText(field)}'`;

const typedValue = (field: Field | undefined): string =>
  field === undefined ? 'none' : `the value '${fieldText(field)}' of type '${fieldTypeNames[field.type]}'`;

const inequivalent = (name: string, received: string, current: string, where: string): AmqpError =>
  preconditionFailed(`inequivalent arg '${name}' for ${where}: received ${received} but current is ${current}`);

/** The properties of a queue that a redeclare compares. */
interface QueueIdentity {
  readonly durable: boolean;
  readonly autoDelete: boolean;
  readonly arguments: FieldTable;
}

/**
 * Checks that an existing queue has the properties of a redeclare (rules F10, F11). The caller has checked the owner of an
 * exclusive queue (rule O4).
 * @throws 406 that names the first difference
 */
function checkSameQueue(
  queue: string,
  vhost: string,
  existing: QueueIdentity & { readonly type: QueueType },
  asked: QueueIdentity,
  profile: Profile,
): void {
  const where = `queue '${queue}' in vhost '${vhost}'`;
  checkSameProperty('durable', existing.durable, asked.durable, where);
  checkSameProperty('auto_delete', existing.autoDelete, asked.autoDelete, where);
  if (existing.arguments === asked.arguments || (existing.arguments.size === 0 && asked.arguments.size === 0)) return;
  for (const row of comparedArguments[existing.type]) {
    const { name } = row;
    const current = existing.arguments.get(name);
    const received = asked.arguments.get(name);
    if ((current === undefined && received === undefined) || !isOn(row, existing.type, profile)) continue;
    const isType = name === 'x-queue-type';
    if (isType && isClassic(current) && isClassic(received)) continue;
    const shown = isType && profile.namesQueueTypes ? (current ?? longstr('classic')) : current;
    checkSameArgument(name, shown, received, where);
  }
}

/** Naming the default type is the same as not naming one. */
const isClassic = (type: Field | undefined): boolean => type === undefined || type.value === 'classic';

/** The place of an argument that a type knows since RabbitMQ 4.3. */
const last = 99;

const inOrder = (type: QueueType): readonly QueueArgument[] =>
  queueArguments
    .filter((row) => row.on[type] !== undefined || row.since43?.on === type)
    .sort((one, other) => (one.on[type] ?? last) - (other.on[type] ?? last));

const comparedArguments: Readonly<Record<QueueType, readonly QueueArgument[]>> = {
  classic: inOrder('classic'),
  quorum: inOrder('quorum'),
};

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
function checkedName(kind: 'queue' | 'exchange', name: string): string {
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
  if (options.passive === true) {
    vhost.checkPassive(channel.connection.user, 'queue', asked);
    return found(vhost.queueFor(channel.connection, asked), now);
  }
  const args = withDefaultType(vhost, options);
  const actual = asked === '' ? `amq.gen-${vhost.names.token()}` : checkedName('queue', asked);
  vhost.check(channel.connection.user, 'configure', 'queue', actual);
  const existing = vhost.queues.get(actual);
  if (existing !== undefined) return redeclared(existing, vhost, channel.connection, options, args, now);
  if (asked === '') checkServerNamed(args);
  return found(created(vhost, channel.connection, actual, options, args, now), now);
}

/**
 * The arguments with the type of a queue that names none: since 4 the default type of the virtual host, where it is quorum and the queue
 * can be a quorum queue, otherwise classic (rules D1, F10).
 */
function withDefaultType({ profile, metadata }: VirtualHostCore, options: QueueOptions): FieldTable {
  const { durable, exclusive, autoDelete, arguments: args = emptyTable } = options;
  if (!profile.defaultQueueTypes) return args;
  const given = args.get('x-queue-type')?.value;
  if (given !== undefined && given !== '' && given !== 'undefined') return args;
  const canBeQuorum = durable === true && exclusive !== true && autoDelete !== true;
  const type = canBeQuorum && metadata.defaultQueueType === 'quorum' ? 'quorum' : 'classic';
  return new Map(args).set('x-queue-type', longstr(type));
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
  checkSameQueue(existing.name, vhost.name, existing.declared, asked, vhost.profile);
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

/** The properties of an exchange that a redeclare compares. */
interface ExchangeIdentity {
  readonly type: string;
  readonly durable: boolean;
  readonly autoDelete: boolean;
  readonly internal: boolean;
  readonly arguments: FieldTable;
}

/** Checks that an existing exchange has the properties of a redeclare (rule P2). @throws 406 that names the first difference */
function checkSameExchange(exchange: string, vhost: string, existing: ExchangeIdentity, asked: ExchangeIdentity): void {
  const where = `exchange '${exchange}' in vhost '${vhost}'`;
  checkSameProperty('type', existing.type, asked.type, where);
  checkSameProperty('durable', existing.durable, asked.durable, where);
  checkSameProperty('auto_delete', existing.autoDelete, asked.autoDelete, where);
  checkSameProperty('internal', existing.internal, asked.internal, where);
  const name = 'alternate-exchange';
  checkSameArgument(name, existing.arguments.get(name), asked.arguments.get(name), where);
}

/** Checks that the alternate exchange of a new exchange is a name (rule P6). @throws 406 */
function checkAlternateExchange(exchange: string, vhost: string, args: FieldTable): void {
  const value = args.get('alternate-exchange');
  if (value === undefined || value.type === 'S') return;
  const type = fieldTypeNames[value.type];
  throw preconditionFailed(
    `invalid type '${type}' for arg 'alternate-exchange' in exchange '${exchange}' in vhost '${vhost}'`,
  );
}

/** How an exchange is declared: the arguments of exchange.declare. */
export interface ExchangeOptions {
  readonly type?: string;
  readonly passive?: boolean;
  readonly durable?: boolean;
  readonly autoDelete?: boolean;
  readonly internal?: boolean;
  readonly arguments?: FieldTable;
}

/** @throws 403 for the default exchange, which no client may declare, bind or delete (rule P3) */
export function notDefault(name: string): string {
  if (name === '') throw accessRefused('operation not permitted on the default exchange');
  return name;
}

/** `exchange.declare` (section P of the rules). */
export function declareExchange(channel: ChannelContext, name: string, options: ExchangeOptions): void {
  const { vhost } = channel;
  checkLength('exchange name', name);
  checkTable('argument', options.arguments);
  const asked = withoutLineEnds(name);
  if (options.passive === true) {
    vhost.checkPassive(channel.connection.user, 'exchange', notDefault(asked));
    if (!vhost.exchanges.has(asked)) throw noExchange(asked, vhost.name);
    return;
  }
  const {
    type = 'direct',
    durable = false,
    autoDelete = false,
    internal = false,
    arguments: args = emptyTable,
  } = options;
  if (!isExchangeType(type)) throw unknownType(type, vhost);
  vhost.check(channel.connection.user, 'configure', 'exchange', notDefault(asked));
  const existing = vhost.exchanges.get(asked);
  const declared = { name: asked, type, durable, autoDelete, internal, arguments: args };
  if (existing !== undefined) return checkSameExchange(asked, vhost.name, existing.declared, declared);
  checkedName('exchange', asked);
  checkAlternate(channel, asked, args);
  const routingType = routingTypeOf(declared); // differs from `type` for a delayed exchange
  if (!exchangeTypes.has(routingType)) throw unknownType(routingType, vhost);
  vhost.addExchange(declared);
}

function checkAlternate(channel: ChannelContext, name: string, args: FieldTable): void {
  const { vhost } = channel;
  checkAlternateExchange(name, vhost.name, args);
  const alternate = args.get('alternate-exchange');
  if (alternate?.type !== 'S') return;
  vhost.check(channel.connection.user, 'read', 'exchange', name); // rule N4
  vhost.check(channel.connection.user, 'write', 'exchange', alternate.value);
}

const unknownType = (type: string, vhost: VirtualHostCore): AmqpError => {
  const text = `unknown exchange type '${type}'`;
  return vhost.profile.unknownExchangeTypeIsSoft ? preconditionFailed(text) : new AmqpError('COMMAND_INVALID', text);
};
