import { type FieldTable, isReserved } from '../../message/index.js';
import type { ChannelContext } from '../channel/context.js';
import type { TopologyChange } from '../declarations.js';
import { accessRefused, notImplemented, preconditionFailed } from '../errors.js';
import { type Destination, Exchange } from '../exchange/exchange.js';
import { kindOf } from '../exchange/types.js';
import type { VirtualHostCore } from '../virtual-host/core.js';
import { checkLength, checkTable } from './checks.js';
import { notDefault, withoutLineEnds } from './declare.js';

export interface DeleteQueueOptions {
  readonly ifUnused?: boolean;
  readonly ifEmpty?: boolean;
}

export function bindQueue(channel: ChannelContext, queue: string, from: string, key: string, args: FieldTable): void {
  const name = withoutLineEnds(channel.queueName(queue)); // rule O3: both names, but not the key
  const exchange = withoutLineEnds(from);
  const bindingKey = queue === '' && key === '' ? name : key; // rule O2
  const { vhost } = channel;
  checkBindingRights(channel, 'queue', name, exchange, bindingKey);
  const source = vhost.exchange(exchange); // rule P5: if queue and exchange are missing, the error names the exchange
  bind(channel, vhost.queueFor(channel.connection, name), source.name, bindingKey, args);
}

export function unbindQueue(channel: ChannelContext, queue: string, from: string, key: string, args: FieldTable): void {
  const name = withoutLineEnds(channel.queueName(queue));
  const exchange = withoutLineEnds(from);
  checkBindingRights(channel, 'queue', name, exchange, key);
  const destination = channel.vhost.queues.get(name);
  if (destination === undefined) return; // rule P5
  unbind(channel, channel.vhost.queueFor(channel.connection, name), exchange, key, args);
}

export function bindExchange(channel: ChannelContext, to: string, from: string, key: string, args: FieldTable): void {
  const name = withoutLineEnds(to);
  const exchange = withoutLineEnds(from);
  checkBindingRights(channel, 'exchange', notDefault(name), exchange, key);
  const source = channel.vhost.exchange(exchange);
  bind(channel, channel.vhost.exchange(name), source.name, key, args);
}

export function unbindExchange(channel: ChannelContext, to: string, from: string, key: string, args: FieldTable): void {
  const name = withoutLineEnds(to);
  const exchange = withoutLineEnds(from);
  checkBindingRights(channel, 'exchange', notDefault(name), exchange, key);
  const destination = channel.vhost.exchanges.get(name);
  if (destination !== undefined) unbind(channel, destination, exchange, key, args);
}

/** `exchange.delete` (rules P3, P4). */
export function deleteExchange(channel: ChannelContext, exchange: string, ifUnused: boolean): void {
  const { vhost } = channel;
  const name = withoutLineEnds(exchange);
  notDefault(name);
  if (isReserved(name)) {
    throw accessRefused(`deletion of system exchange '${name}' in vhost '${vhost.name}' not allowed`);
  }
  vhost.check(channel.connection.user, 'configure', 'exchange', name);
  const found = vhost.exchanges.get(name);
  if (found === undefined) return;
  if (ifUnused && found.bindingCount > 0) {
    throw preconditionFailed(`exchange '${name}' in vhost '${vhost.name}' in use`);
  }
  vhost.removeExchange(found);
}

/** `queue.purge` (rule O6). @returns the number of purged messages */
export function purgeQueue(channel: ChannelContext, queue: string): number {
  const name = channel.queueName(queue);
  channel.vhost.check(channel.connection.user, 'read', 'queue', name);
  return channel.vhost.queueFor(channel.connection, name).purge();
}

/** `queue.delete` (rules O6, D10). @returns the number of ready messages that were deleted */
export function deleteQueue(channel: ChannelContext, queue: string, options: DeleteQueueOptions): number {
  const { vhost } = channel;
  const name = withoutLineEnds(channel.queueName(queue));
  vhost.check(channel.connection.user, 'configure', 'queue', name);
  if (!vhost.queues.has(name)) return 0;
  const found = vhost.queueFor(channel.connection, name);
  const where = `queue '${name}' in vhost '${vhost.name}'`;
  if (found.declared.type === 'quorum' && (options.ifUnused === true || options.ifEmpty === true)) {
    const flag = options.ifUnused === true ? 'if-unused' : 'if-empty';
    const text = `queue.delete operations with ${flag} flag set are not supported by quorum queues`;
    throw notImplemented(`cannot delete ${where}. ${text}`);
  }
  found.dropExcess(found.lastUse, Infinity); // messages above a limit are not counted as deleted
  if (options.ifUnused === true && found.consumers.count > 0) throw preconditionFailed(`${where} in use`);
  if (options.ifEmpty === true && found.length > 0) throw preconditionFailed(`${where} not empty`);
  const { length } = found;
  vhost.removeQueue(found);
  return length;
}

function bind(channel: ChannelContext, destination: Destination, from: string, key: string, args: FieldTable): void {
  const { vhost } = channel;
  const source = vhost.exchange(from);
  checkLength('binding key', key);
  checkTable('argument', args);
  kindOf(source.declared).checkBinding?.(args); // rule P8
  if (!source.bind(destination, key, args)) return;
  vhost.changed(changeOf('added', vhost, destination, from, key, args));
}

function unbind(channel: ChannelContext, destination: Destination, from: string, key: string, args: FieldTable): void {
  const { vhost } = channel;
  checkTable('argument', args);
  const source = vhost.exchanges.get(from);
  if (source === undefined || !source.unbind(destination, key, args)) return;
  vhost.changed(changeOf('removed', vhost, destination, from, key, args));
  vhost.bindingRemoved(source);
}

function changeOf(
  change: 'added' | 'removed',
  vhost: VirtualHostCore,
  destination: Destination,
  name: string,
  bindingKey: string,
  args: FieldTable,
): TopologyChange {
  const to = destination instanceof Exchange ? 'exchange' : 'queue';
  const details = { to, destination: destination.name, bindingKey, arguments: args } as const;
  return { kind: 'binding', change, vhost: vhost.name, name, details };
}

/** Rules P3, N4 and N5: checks write on the destination, then read on the source, and for a topic exchange read with this key. */
function checkBindingRights(
  { connection: { user }, vhost }: ChannelContext,
  kind: 'queue' | 'exchange',
  to: string,
  from: string,
  key: string,
): void {
  vhost.check(user, 'write', kind, to);
  notDefault(from);
  vhost.check(user, 'read', 'exchange', from);
  const source = vhost.exchanges.get(from);
  if (source !== undefined) vhost.checkTopic(user, 'read', source, key);
}
