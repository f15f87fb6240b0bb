import type { Broker, Channel } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { type Field, int32, longstr } from '../../libs/dlx-broker/src/engine/message/index.js';
import { channelOf, crowd, doomed, fill, heavy, nameOf, refill, type Size, table } from './scene.js';

/** Prepares, and then returns the command. Its turns are measured until all of its work is done. */
export type Operation = (broker: Broker, size: Size) => () => void;

const toDead = { 'x-dead-letter-exchange': longstr(''), 'x-dead-letter-routing-key': longstr('dead') };

/** A channel with this number of unacknowledged messages. */
function holding(broker: Broker, count: number, args = {}) {
  const channel = channelOf(broker);
  channel.declareQueue('dead', { durable: true });
  channelOf(broker).deleteQueue('held');
  channel.declareQueue('held', { durable: true, arguments: table(args) });
  fill(channel, 'held', count);
  for (let n = 0; n < count; n++) channel.get('held');
  return channel;
}

/** A queue with many expired messages behind one that has not expired. They are removed when it is taken. */
function stale(broker: Broker, count: number): Channel {
  const channel = channelOf(broker);
  channelOf(broker).deleteQueue('stale');
  channel.declareQueue('stale', { durable: true });
  fill(channel, 'stale', 1);
  const body = Buffer.alloc(16, 'a');
  for (let n = 0; n < count; n++) channel.publish('', 'stale', { deliveryMode: 2, expiration: '1' }, body);
  return channel;
}

/** A full queue of messages of 100 bytes. @returns publishes one message that is as large as all of them */
function crowded(broker: Broker, count: number, args: Readonly<Record<string, Field>>): () => void {
  const channel = channelOf(broker);
  channel.declareQueue('dead', { durable: true });
  channelOf(broker).deleteQueue('crowded');
  const limits = table({ ...args, 'x-max-length-bytes': int32(count * 100) });
  channel.declareQueue('crowded', { durable: true, arguments: limits });
  const small = Buffer.alloc(100, 'a');
  for (let n = 0; n < count; n++) channel.publish('', 'crowded', { deliveryMode: 2 }, small);
  const large = Buffer.alloc(count * 100);
  return () => void channel.publish('', 'crowded', { deliveryMode: 2 }, large);
}

/** Commands of the engine for many objects at once. */
export const operations: Readonly<Record<string, Operation>> = {
  'delete a virtual host': (broker, size) => (doomed(broker, size), () => broker.removeVirtualHost('doomed')),
  'delete a queue with many bindings and messages': (broker, size) => (
    heavy(broker, size),
    () => channelOf(broker).deleteQueue('heavy')
  ),
  'delete an exchange with many bindings': (broker, size) => (
    heavy(broker, size),
    () => channelOf(broker).deleteExchange('heavy')
  ),
  'purge a full queue': (broker, size) => (refill(broker, size), () => channelOf(broker).purgeQueue('big')),
  'a policy for all queues': (broker) => () =>
    void broker.virtualHost('/').setPolicy('all', { pattern: '.*', definition: { 'max-length': 5_000_000 } }),
  'a policy with an evil pattern': (broker) => () =>
    void broker.virtualHost('/').setPolicy('evil', {
      pattern: '^(([a-z0-9.])+.)+[A-Z]([a-z])+$',
      priority: 9,
      definition: { 'max-length': 5e6 },
    }),
  'the policies go': (broker) => () => {
    broker.virtualHost('/').deletePolicy('evil');
    broker.virtualHost('/').deletePolicy('all');
  },
  'a policy shortens a full queue': (broker, size) => (
    refill(broker, size),
    () => void broker.virtualHost('/').setPolicy('short', { pattern: '^big$', definition: { 'max-length': 10 } })
  ),
  'and goes': (broker) => () => void broker.virtualHost('/').deletePolicy('short'),
  'all queues of a virtual host expire': (broker, { queues }) => {
    broker.addVirtualHost('doomed');
    const channel = channelOf(broker, 'doomed');
    broker.batch(() => {
      for (let n = 0; n < queues; n++) {
        channel.declareQueue(nameOf('e', n), { arguments: table({ 'x-expires': int32(1_500) }) });
      }
    });
    return () => {};
  },
  'all messages of a queue expire': (broker, { messages }) => {
    const channel = channelOf(broker);
    channel.declareQueue('dead', { durable: true });
    const args = table({ 'x-message-ttl': int32(4_000), ...toDead });
    channel.declareQueue('expiring', { durable: true, arguments: args });
    fill(channel, 'expiring', messages / 5);
    return () => {};
  },
  'basic.get before many expired messages': (broker, { messages }) => {
    const channel = stale(broker, messages / 5);
    return () => void channel.get('stale');
  },
  'basic.get of a client before many expired messages': (broker, { messages }) => {
    const channel = stale(broker, messages / 2);
    return () => channel.fetch('stale', {}, () => undefined);
  },
  'a large message in the place of many small ones': (broker, { messages }) => {
    const publish = crowded(broker, messages, {});
    return () => publish();
  },
  'a large message in the place of many small ones, dead-lettered': (broker, { messages }) => {
    const publish = crowded(broker, messages / 5, toDead);
    return () => publish();
  },
  'one message for each of all queues': (broker, { queues }) => {
    const channel = channelOf(broker);
    channel.declareExchange('all', { type: 'fanout', durable: true });
    for (let n = 0; n < queues; n++) channel.bindQueue(nameOf('q', n), 'all', '');
    return () => void channel.publish('all', '', { deliveryMode: 2 }, Buffer.from('x'));
  },
  'a publish with an evil topic key': (broker) => {
    const channel = channelOf(broker);
    return () => void channel.publish('topics', 'a.'.repeat(120), {}, Buffer.from('x'));
  },
  'a publish to many headers bindings': (broker) => {
    const channel = channelOf(broker);
    const headers = table({ same: longstr('same'), n: int32(77) });
    return () => void channel.publish('headers', '', { headers }, Buffer.from('x'));
  },
  'basic.recover': (broker) => {
    const channel = holding(broker, 100_000);
    return () => channel.recover(true);
  },
  'nack of many': (broker) => {
    const channel = holding(broker, 100_000, toDead);
    return () => channel.nack(0, true, false);
  },
  'nack up to a tag': (broker) => {
    const channel = holding(broker, 100_000, toDead);
    return () => channel.nack(99_000, true, false);
  },
  'ack up to a tag': (broker) => {
    const channel = holding(broker, 100_000);
    return () => channel.ack(99_000, true);
  },
  'close a channel with many unacknowledged': (broker) => {
    const channel = holding(broker, 100_000);
    return () => channel.close();
  },
  'tx.commit of many publishes': (broker) => {
    const channel = channelOf(broker);
    channel.declareQueue('dead', { durable: true });
    channel.txSelect();
    fill(channel, 'dead', 100_000);
    return () => channel.txCommit();
  },
  'tx.commit of many settlements': (broker) => {
    const channel = holding(broker, 100_000);
    channel.txSelect();
    channel.ack(0, true);
    return () => channel.txCommit();
  },
  'tx.rollback of many settlements': (broker) => {
    const channel = holding(broker, 100_000);
    channel.txSelect();
    channel.ack(0, true);
    return () => channel.txRollback();
  },
  'close connections with many channels and consumers': (broker, size) => {
    crowd(broker, size);
    return () => {
      for (const connection of broker.virtualHost('/').connections)
        if (connection.user?.name === 'crowd') connection.close();
    };
  },
  'close a connection with many exclusive queues': (broker, { queues }) => {
    const channel = channelOf(broker);
    for (let n = 0; n < queues; n++) channel.declareQueue(nameOf('mine', n), { exclusive: true });
    return () => channel.connection.close();
  },
  'many delayed messages are due at once': (broker, { messages }) => {
    const channel = channelOf(broker);
    channel.declareQueue('dead', { durable: true });
    const args = table({ 'x-delayed-type': longstr('direct') });
    channel.declareExchange('later', { type: 'x-delayed-message', arguments: args });
    channel.bindQueue('dead', 'later', 'key');
    const headers = table({ 'x-delay': int32(4_000) });
    for (let n = 0; n < messages / 5; n++) channel.publish('later', 'key', { headers }, Buffer.from('x'));
    return () => {};
  },
  'nothing (what timers and samples take)': () => () => {},
};
