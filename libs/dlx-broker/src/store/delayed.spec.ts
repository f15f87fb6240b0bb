import { describe, expect, it } from 'vitest';
import { Broker } from '../engine/broker/index.js';
import { int32, longstr } from '../engine/message/index.js';
import { CountedNames } from '../nest/testing/counted-names.js';
import { listen } from '../../../../test/harnesses/listener.js';
import { ManualClock } from '../nest/testing/manual-clock.js';
import { type Store, stores } from '../../../../test/durability/stores.js';
import { MemoryJournal } from '../../../../test/durability/memory-journal.js';

const patterns = { compile: () => ({ matches: () => true }) };

/** A durable exchange `later` and a durable queue `work`; `crash` makes a new broker of what is safe. */
async function arrange(open: (typeof stores)[number]['open'], durable = true) {
  const clock = new ManualClock();
  const first = await open(clock);
  const start = (store: Store, time: ManualClock): Broker =>
    new Broker({ clock: time, journal: store.journal, names: new CountedNames(), patterns });
  const broker = start(first, clock);
  first.restore(broker);
  const { channel } = listen(broker);
  const args = new Map([['x-delayed-type', longstr('fanout')]]);
  channel.declareExchange('later', { type: 'x-delayed-message', durable, arguments: args });
  channel.declareQueue('work', { durable: true });
  channel.bindQueue('work', 'later', '');
  const publish = (text: string, delay: number, deliveryMode = 2): void => {
    const headers = new Map([['x-delay', int32(delay)]]);
    channel.publish('later', 'key', { deliveryMode, headers, messageId: text }, Buffer.from(text));
  };
  let store = first;
  /** The process is dead for this many milliseconds. */
  const crash = async (from: ManualClock, gone = 0) => {
    const time = new ManualClock(from.now() + gone);
    store = await store.crashed(time);
    const reborn = start(store, time);
    store.restore(reborn);
    return { broker: reborn, clock: time, bodies: () => bodiesIn(reborn), held: () => heldIn(reborn) };
  };
  return { store: first, broker, channel, clock, publish, crash, bodies: () => bodiesIn(broker) };
}

function bodiesIn(broker: Broker): string[] {
  const found: string[] = [];
  broker
    .virtualHost('/')
    .queues.get('work')!
    .peek(({ message }) => void found.push(Buffer.from(message.body).toString()));
  return found;
}

const heldIn = (broker: Broker): number | undefined => broker.virtualHost('/').exchanges.get('later')?.delayed?.count;

describe.each(stores)('delayed messages in $name', ({ open }) => {
  it('are held on after a restart, until the time they had', async () => {
    const { store, clock, publish, crash } = await arrange(open);
    for (const delay of [500, 100, 300]) publish(String(delay), delay);
    clock.advance(50);
    await store.sync();
    const reborn = await crash(clock);
    expect(reborn.held()).toBe(3);
    reborn.clock.advance(49);
    expect(reborn.bodies()).toEqual([]);
    reborn.clock.advance(1);
    expect(reborn.bodies()).toEqual(['100']);
    reborn.clock.advance(400);
    expect(reborn.bodies()).toEqual(['100', '300', '500']);
  });

  it('go on at once when they were due while the process was dead, in order', async () => {
    const { store, clock, publish, crash } = await arrange(open);
    for (const delay of [500, 100, 300, 100]) publish(`${delay}`, delay);
    await store.sync();
    const reborn = await crash(clock, 10_000);
    reborn.clock.advance(0);
    expect(reborn.bodies()).toEqual(['100', '100', '300', '500']);
    expect(reborn.held()).toBe(0);
  });

  it('are in one place after a second restart, held ones and those that went on', async () => {
    const { store, clock, publish, crash } = await arrange(open);
    publish('soon', 100);
    publish('later', 1_000);
    await store.sync();
    clock.advance(100);
    await store.sync();
    const once = await crash(clock);
    expect([once.bodies(), once.held()]).toEqual([['soon'], 1]);
    const twice = await crash(once.clock);
    expect([twice.bodies(), twice.held()]).toEqual([['soon'], 1]);
    twice.clock.advance(900);
    expect(twice.bodies()).toEqual(['soon', 'later']);
  });

  it('are gone after a restart when they were cancelled', async () => {
    const { store, broker, clock, publish, crash } = await arrange(open);
    publish('a', 100);
    publish('b', 100);
    await store.sync();
    broker.virtualHost('/').cancelDelayed('later', 'a');
    await store.sync();
    const reborn = await crash(clock, 200);
    reborn.clock.advance(0);
    expect(reborn.bodies()).toEqual(['b']);
  });

  it('are gone when their exchange was deleted, also if it was declared again', async () => {
    const { store, channel, clock, publish, crash } = await arrange(open);
    publish('a', 100);
    await store.sync();
    channel.deleteExchange('later');
    const args = new Map([['x-delayed-type', longstr('fanout')]]);
    channel.declareExchange('later', { type: 'x-delayed-message', durable: true, arguments: args });
    channel.bindQueue('work', 'later', '');
    await store.sync();
    const reborn = await crash(clock);
    expect(reborn.held()).toBe(0);
  });

  it('are lost in a restart if they are transient', async () => {
    const { store, clock, publish, crash } = await arrange(open);
    publish('kept', 100);
    publish('lost', 100, 1);
    await store.sync();
    expect((await crash(clock)).held()).toBe(1);
  });

  it('are lost in a restart if the exchange is not durable', async () => {
    const { store, clock, publish, crash } = await arrange(open, false);
    publish('lost', 100);
    await store.sync();
    expect((await crash(clock)).held()).toBeUndefined();
  });
});

it('a confirm waits until the journal has what the exchange holds', async () => {
  const journal = new MemoryJournal(true);
  const broker = new Broker({ clock: new ManualClock(), journal, names: new CountedNames(), patterns });
  const { channel, confirms } = listen(broker);
  const args = new Map([['x-delayed-type', longstr('fanout')]]);
  channel.declareExchange('later', { type: 'x-delayed-message', durable: true, arguments: args });
  channel.confirmSelect();
  journal.sync();
  channel.publish('later', '', { deliveryMode: 2, headers: new Map([['x-delay', int32(9)]]) }, new Uint8Array(1));
  expect(confirms).toEqual([]);
  journal.sync();
  expect(confirms).toEqual(['ack 1']);
});
