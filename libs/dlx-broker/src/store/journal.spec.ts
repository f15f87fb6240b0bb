import { describe, expect, it } from 'vitest';
import { Broker, type Channel, type ProfileName, type Queue } from '../engine/broker/index.js';
import { deathsOf, int32, longstr, Message, type Properties } from '../engine/message/index.js';
import { CountedNames } from '../nest/testing/counted-names.js';
import { listen, publishText } from '../../../../test/harnesses/listener.js';
import { ManualClock } from '../nest/testing/manual-clock.js';
import { atLeastOnceTo } from '../../../../test/durability/at-least-once.js';
import { stores } from '../../../../test/durability/stores.js';

const persistent: Properties = { deliveryMode: 2 };
const toDead = new Map([
  ['x-dead-letter-exchange', longstr('')],
  ['x-dead-letter-routing-key', longstr('dead')],
]);
const quorum = new Map([['x-queue-type', longstr('quorum')]]);
const patterns = { compile: (pattern: string) => ({ matches: (name: string) => name === pattern }) };

/** A broker on a store; `crash` makes a new one of what is safe. */
async function arrange(open: (typeof stores)[number]['open'], rabbitmq: ProfileName = '3.10') {
  const clock = new ManualClock();
  let store = await open(clock);
  const start = (): Broker =>
    new Broker({ clock, journal: store.journal, names: new CountedNames(), patterns, rabbitmq });
  const broker = start();
  store.restore(broker);
  const unsafeCrash = async (downtime = 0): Promise<Broker> => {
    store = await store.crashed(clock);
    clock.advance(downtime);
    const reborn = start();
    store.restore(reborn);
    clock.advance(0);
    return reborn;
  };
  const sync = (): Promise<void> => store.sync();
  const crash = async (downtime = 0): Promise<Broker> => {
    await sync();
    return unsafeCrash(downtime);
  };
  return { clock, broker, sync, crash, unsafeCrash };
}

const queueOf = (broker: Broker, name: string): Queue | undefined => broker.virtualHost('/').queues.get(name);

function bodies(broker: Broker, name: string): string[] {
  const all: string[] = [];
  queueOf(broker, name)?.peek(({ message, returns }) => {
    all.push(`${Buffer.from(message.body).toString()}${returns > 0 ? ' again' : ''}`);
  });
  return all;
}

const durable = (channel: Channel, name: string, args = new Map()): void =>
  void channel.declareQueue(name, { durable: true, arguments: args });

describe.each(stores)('after a restart with the store in $name', ({ open }) => {
  it('persistent messages of durable queues are there, all else is gone (rule L1)', async () => {
    const { broker, crash } = await arrange(open);
    const { channel } = listen(broker);
    durable(channel, 'kept');
    channel.declareQueue('transient');
    channel.declareQueue('mine', { durable: true, exclusive: true });
    for (const queue of ['kept', 'transient', 'mine']) {
      publishText(channel, '', queue, 'two', persistent);
      publishText(channel, '', queue, 'one', { deliveryMode: 1 });
      publishText(channel, '', queue, 'none');
    }
    const reborn = await crash();
    expect(bodies(reborn, 'kept')).toEqual(['two']);
    expect([...reborn.virtualHost('/').queues.keys()]).toEqual(['kept']);
  });

  it('headers and deaths are there, with the mode that dead-lettering kept (rule L1)', async () => {
    const { broker, crash } = await arrange(open);
    const { channel } = listen(broker);
    durable(channel, 'dead');
    durable(channel, 'work', toDead);
    publishText(channel, '', 'work', 'a', { ...persistent, headers: new Map([['mine', int32(5)]]) });
    publishText(channel, '', 'work', 'lost');
    channel.get('work');
    channel.get('work');
    channel.nack(0, true, false);
    const reborn = await crash();
    expect(bodies(reborn, 'dead')).toEqual(['a']);
    queueOf(reborn, 'dead')?.peek(({ message }) => {
      expect(message.properties.headers?.get('mine')).toEqual(int32(5));
      expect(deathsOf(message.properties.headers)).toMatchObject([{ queue: 'work', reason: 'rejected', count: 1 }]);
    });
  });

  it('unacked ones are back at their place, redelivered (rules L1, J3)', async () => {
    const { broker, crash } = await arrange(open);
    const { channel } = listen(broker);
    durable(channel, 'q');
    for (const body of ['1', '2', '3', '4', '5']) publishText(channel, '', 'q', body, persistent);
    for (let got = 0; got < 4; got++) channel.get('q');
    channel.ack(3);
    channel.reject(1, true);
    expect(bodies(await crash(), 'q')).toEqual(['1 again', '2 again', '4 again', '5']);
  });

  it('what expired meanwhile is dead-lettered at start, the rest in its time (rule L2)', async () => {
    const { broker, clock, crash } = await arrange(open);
    const { channel } = listen(broker);
    durable(channel, 'dead');
    durable(channel, 'q', toDead);
    publishText(channel, '', 'q', 'soon', { ...persistent, expiration: '10' });
    publishText(channel, '', 'q', 'later', { ...persistent, expiration: '100' });
    const reborn = await crash(50);
    expect(bodies(reborn, 'q')).toEqual(['later']);
    expect(bodies(reborn, 'dead')).toEqual(['soon']);
    clock.advance(49);
    expect(bodies(reborn, 'q')).toEqual(['later']);
    clock.advance(1);
    expect(bodies(reborn, 'dead')).toEqual(['soon', 'later']);
  });

  it('a quorum queue has everything, and counts the loss of its consumer (rules L3, D2)', async () => {
    const { broker, crash } = await arrange(open);
    const { channel } = listen(broker);
    durable(channel, 'dead');
    durable(channel, 'q', new Map([...quorum, ...toDead, ['x-delivery-limit', int32(0)]]));
    publishText(channel, '', 'q', 'held', persistent);
    publishText(channel, '', 'q', 'transient');
    channel.get('q');
    const reborn = await crash();
    expect(bodies(reborn, 'q')).toEqual(['transient']);
    expect(bodies(reborn, 'dead')).toEqual(['held']);
  });

  it.each([
    ['a quorum queue', quorum],
    ['a classic queue', new Map()],
  ])(
    'a dead letter in %s has the failures of its message, and a quorum queue their number (rule W16)',
    async (_, args) => {
      const { broker, crash } = await arrange(open, '4');
      const { channel } = listen(broker);
      durable(channel, 'q', new Map([...quorum, ...toDead]));
      durable(channel, 'dead', args);
      publishText(channel, '', 'q', 'died', persistent);
      for (const requeue of [true, true, false]) channel.reject(channel.get('q')!.deliveryTag, requeue);
      const failuresIn = (found: Broker): number[] => {
        const all: number[] = [];
        queueOf(found, 'dead')!.peek(({ failures, returns }) => void all.push(failures, returns));
        return all;
      };
      expect(failuresIn(broker)).toEqual([3, 0]);
      const reborn = await crash();
      expect(failuresIn(reborn)).toEqual([3, 0]);
      const got = listen(reborn).channel.get('dead')!;
      expect([got.redelivered, got.deliveryCount]).toEqual([true, 3]);
    },
  );

  it('at-least-once dead letters are still dead, and are tried at once, in the order of their deaths (rule M3)', async () => {
    const { broker, clock, crash } = await arrange(open);
    const { channel } = listen(broker);
    channel.declareExchange('dlx', { type: 'fanout', durable: true });
    durable(channel, 'dead');
    durable(channel, 'work', atLeastOnceTo('dlx'));
    for (const body of ['one', 'two', 'three', 'five', 'four']) publishText(channel, '', 'work', body, persistent);
    for (let left = 4; left > 0; left--) channel.get('work');
    for (const tag of [4, 2]) channel.reject(tag, false); // in one millisecond
    clock.advance(2_000);
    const died = clock.now();
    channel.reject(1, false, new Map([['why', longstr('because')]]));
    // Nowhere to go, before the restart and after it.
    const reborn = await crash(5_000);
    expect([bodies(reborn, 'work'), queueOf(reborn, 'work')?.retained]).toEqual([['three again', 'four'], 3]);
    listen(reborn).channel.bindQueue('dead', 'dlx', '');
    const again = await crash(5_000);
    expect([bodies(again, 'work'), queueOf(again, 'work')?.retained]).toEqual([['three again', 'four'], 0]);
    expect(bodies(again, 'dead')).toEqual(['five', 'two', 'one']);
    queueOf(again, 'dead')?.peek(({ message: { properties, body } }) => {
      const isLast = Buffer.from(body).toString() === 'one';
      const time = isLast ? died : died - 2_000;
      expect(deathsOf(properties.headers)).toMatchObject([{ queue: 'work', reason: 'rejected', count: 1, time }]);
      expect(properties.headers?.get('why')).toEqual(isLast ? longstr('because') : undefined);
    });
    expect((await crash()).virtualHost('/').queues.get('work')?.retained).toBe(0);
  });

  it('exchanges, bindings, policies, users and permissions are there; what was removed is not', async () => {
    const { broker, crash } = await arrange(open);
    const vhost = broker.addVirtualHost('v');
    broker.addVirtualHost('gone');
    broker.removeVirtualHost('gone');
    const { channel } = listen(broker, { vhost: 'v' });
    channel.declareExchange('x', { type: 'topic', durable: true });
    channel.declareExchange('y', { type: 'fanout', durable: true });
    channel.declareExchange('short-lived');
    for (const name of ['q', 'deleted', 'unbound']) durable(channel, name);
    channel.bindQueue('q', 'x', 'a.*', new Map([['n', int32(1)]]));
    channel.bindQueue('unbound', 'x', 'b');
    channel.unbindQueue('unbound', 'x', 'b');
    channel.bindQueue('deleted', 'x', 'c');
    channel.deleteQueue('deleted');
    durable(channel, 'deleted');
    channel.bindExchange('y', 'x', 'd');
    vhost.setPolicy('p', { pattern: 'q', definition: { 'max-length': 3 }, priority: 2 });
    vhost.setPolicy('other', { pattern: 'z', definition: { 'max-length': 4 } });
    vhost.deletePolicy('other');
    vhost.setOperatorPolicy('limit', { pattern: 'q', definition: { 'max-length': 2 } });
    broker.access.setUser('ann', { tags: ['management'], passwordHash: 'h' });
    broker.access.setPermissions('ann', 'v', { configure: '', write: 'x', read: '' });
    broker.access.setUser('bob');
    broker.access.deleteUser('bob');
    broker.access.setUserLimits('ann', { 'max-connections': 3, 'max-channels': 4 });
    broker.access.clearUserLimits('ann', 'max-connections');
    const reborn = await crash();
    expect([...reborn.virtualHosts.keys()]).toEqual(['/', 'v']);
    const again = reborn.virtualHost('v');
    expect(again.exchanges.has('short-lived')).toBe(false);
    const bindings = again.exchange('x').bindings();
    expect(bindings.map(({ destination, bindingKey }) => `${destination.name} ${bindingKey}`)).toEqual([
      'q a.*',
      'y d',
    ]);
    expect(bindings[0]?.arguments).toEqual(new Map([['n', int32(1)]]));
    expect(again.queues.get('q')?.settings.maxLength).toBe(2);
    expect(again.policies.user.list()).toMatchObject([{ name: 'p', priority: 2 }]);
    expect(reborn.access.users()).toEqual([
      { name: 'ann', tags: ['management'], passwordHash: 'h', limits: { 'max-channels': 4 } },
    ]);
    expect(reborn.access.permissions('ann', 'v')).toMatchObject({ write: 'x' });
  });

  it('a dead letter that had not arrived yet is back between those that came back (rules J2, L1)', async () => {
    const { broker, clock } = await arrange(open);
    const { channel } = listen(broker);
    durable(channel, 'q');
    const queue = queueOf(broker, 'q') as Queue;
    for (const position of [5, 1, 2, 6]) {
      const message = new Message('', 'q', persistent, Buffer.from(String(position)));
      queue.restore(message, { position, deadline: 0, returns: 0, delivered: position % 4 === 1 }, clock.now());
    }
    expect(bodies(broker, 'q')).toEqual(['1 again', '2', '5 again', '6']);
  });

  it('twice in a row nothing changes', async () => {
    const { broker, crash } = await arrange(open);
    const { channel } = listen(broker);
    durable(channel, 'q');
    for (const body of ['1', '2', '3']) publishText(channel, '', 'q', body, persistent);
    channel.get('q');
    const once = bodies(await crash(), 'q');
    expect(bodies(await crash(), 'q')).toEqual(once);
    expect(once).toEqual(['1 again', '2', '3']);
  });
});

describe.each(stores)('publisher confirms with the store in $name', ({ open }) => {
  it('acks wait, nacks do not, and neighbours go as one (rules K1, K3)', async () => {
    const { broker, sync } = await arrange(open);
    const { channel, confirms } = listen(broker);
    const two = new Map<string, ReturnType<typeof int32 | typeof longstr>>([
      ['x-max-length', int32(3)],
      ['x-overflow', longstr('reject-publish')],
    ]);
    durable(channel, 'q', two);
    channel.confirmSelect();
    for (const body of ['1', '2', '3', '4']) publishText(channel, '', 'q', body, persistent);
    expect(confirms).toEqual(['nack 4']);
    await sync();
    expect(confirms).toEqual(['nack 4', 'ack 3 multiple']);
    publishText(channel, '', 'q', '5', persistent);
    expect(confirms.at(-1)).toBe('nack 5');
  });

  it('a message that is not stored is acked at once', async () => {
    const { broker, sync } = await arrange(open);
    const { channel, confirms } = listen(broker);
    channel.declareQueue('transient');
    await sync();
    channel.confirmSelect();
    publishText(channel, '', 'transient', 'a', persistent);
    publishText(channel, '', 'nowhere', 'b', persistent);
    expect(confirms).toEqual(['ack 1', 'ack 2']);
  });

  it('a transaction is over when its publishes are durable, at once if none of them is stored (rule K8)', async () => {
    const { broker, sync } = await arrange(open);
    const { channel } = listen(broker);
    durable(channel, 'q');
    channel.declareQueue('transient');
    await sync();
    channel.txSelect();
    const told: string[] = [];
    publishText(channel, '', 'transient', 'a', persistent);
    channel.txCommit(() => void told.push('transient'));
    expect(told).toEqual(['transient']);
    publishText(channel, '', 'q', 'b', persistent);
    channel.txCommit(() => void told.push('kept'));
    expect(told).toEqual(['transient']);
    await sync();
    expect(told).toEqual(['transient', 'kept']);
  });

  it('what was confirmed is there after a crash, what was not may be lost', async () => {
    const { broker, sync, unsafeCrash } = await arrange(open);
    const { channel, confirms } = listen(broker);
    durable(channel, 'q');
    channel.confirmSelect();
    publishText(channel, '', 'q', 'safe', persistent);
    await sync();
    publishText(channel, '', 'q', 'unsafe', persistent);
    expect(confirms).toEqual(['ack 1']);
    expect(bodies(await unsafeCrash(), 'q')).toEqual(['safe']);
  });
});
