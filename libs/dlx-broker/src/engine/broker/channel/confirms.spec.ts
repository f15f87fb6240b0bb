import { describe, expect, it } from 'vitest';
import { CountedNames } from '../../../nest/testing/counted-names.js';
import { listen } from '../../../../../../test/harnesses/listener.js';
import { ManualClock } from '../../../nest/testing/manual-clock.js';
import { longstr } from '../../message/index.js';
import { Broker } from '../broker.js';
import type { Journal, Pace } from '../ports.js';

/** A journal in which persistent messages are safe when the test says so; others are not waited for. */
function slowJournal() {
  const waiting: ((failure?: Error) => void)[] = [];
  const journal = {
    sequence: 0,
    refuses: () => false,
    changed() {},
    enqueued: (_queue, { message }) => {
      if (message.properties.deliveryMode === 2) journal.sequence++;
    },
    delivered() {},
    returned() {},
    died() {},
    settled() {},
    commit: (synced) => {
      if (synced !== undefined) waiting.push(synced);
    },
  } as Journal & { sequence: number };
  // The last of a group speaks for all.
  return { journal, waiting, sync: (failure?: Error) => waiting.splice(0).at(-1)?.(failure) };
}

function arrange(pace?: Pace) {
  const { journal, waiting, sync } = slowJournal();
  const patterns = { compile: () => ({ matches: () => false }) };
  const broker = new Broker({
    clock: new ManualClock(),
    names: new CountedNames(),
    patterns,
    journal,
    ...(pace && { pace }),
  });
  const { channel, confirms } = listen(broker);
  channel.declareQueue('q');
  channel.confirmSelect();
  const publish = (deliveryMode: number): number => channel.publish('', 'q', { deliveryMode }, new Uint8Array());
  return { broker, channel, confirms, waiting, sync, publish };
}

describe('publisher confirms', () => {
  it('say multiple only when nothing before is unsettled', () => {
    const { channel, confirms, sync, publish } = arrange();
    for (const deliveryMode of [2, 1, 1, 2]) publish(deliveryMode);
    expect(confirms).toEqual(['ack 2', 'ack 3']);
    expect(channel.confirms?.pending).toBe(2);
    sync();
    expect(confirms.slice(2)).toEqual(['ack 1', 'ack 4']);
    expect(channel.confirms?.pending).toBe(0);
    for (const deliveryMode of [2, 2, 2]) publish(deliveryMode);
    sync();
    expect(confirms.slice(4)).toEqual(['ack 7 multiple']);
  });

  it('of one command go as one, also as nacks, unless one before them is unsettled', () => {
    const { broker, channel, confirms, sync, publish } = arrange();
    const together = (...modes: number[]): void => broker.batch(() => modes.forEach(publish));
    together(2, 2, 2);
    sync();
    expect(confirms.splice(0)).toEqual(['ack 3 multiple']);
    together(2, 2, 1, 2, 2);
    expect(confirms.splice(0)).toEqual(['ack 6']);
    sync(new Error('the disk is gone'));
    expect(confirms.splice(0)).toEqual(['nack 5 multiple', 'nack 8 multiple']);
    publish(2);
    together(2, 2);
    expect([confirms, channel.confirms?.pending]).toEqual([[], 3]);
    sync();
    expect(confirms).toEqual(['ack 11 multiple']);
  });

  it('wait for the dead letters of earlier rejects, if the pace defers these', () => {
    const resumes: (() => void)[] = [];
    const pace = { budget: 1, later: (resume: () => void) => void resumes.push(resume) };
    const { channel, waiting, publish } = arrange(pace);
    const args = new Map([
      ['x-dead-letter-exchange', longstr('')],
      ['x-dead-letter-routing-key', longstr('dead')],
    ]);
    channel.declareQueue('dead');
    channel.declareQueue('work', { arguments: args });
    for (let left = 3; left > 0; left--) channel.publish('', 'work', { deliveryMode: 1 }, new Uint8Array());
    while (resumes.length > 0) resumes.shift()?.();
    for (let left = 3; left > 0; left--) channel.get('work');
    for (const tag of [1, 2]) channel.reject(tag, false);
    publish(2);
    channel.reject(3, false);
    publish(2);
    /** The number of letters that the journal knew of each time it got a waiter. */
    const known: number[] = [];
    for (let turns = 0; turns < 20; turns++) {
      while (known.length < waiting.length) known.push(channel.vhost.queues.get('dead')?.length ?? 0);
      resumes.shift()?.();
    }
    expect(known).toEqual([2, 3]);
  });

  it('do not wait for later deaths', () => {
    const resumes: (() => void)[] = [];
    const { channel, waiting, publish } = arrange({ budget: 20, later: (resume) => void resumes.push(resume) });
    const circle = new Map([
      ['x-dead-letter-exchange', longstr('')],
      ['x-dead-letter-routing-key', longstr('circle')],
    ]);
    channel.declareQueue('circle', { arguments: circle });
    for (let left = 300; left > 0; left--) channel.publish('', 'circle', { deliveryMode: 1 }, new Uint8Array());
    while (resumes.length > 0) resumes.shift()?.();
    const reject = (count: number): void => {
      for (let left = count; left > 0; left--) {
        const delivery = channel.get('circle');
        if (delivery !== undefined) channel.reject(delivery.deliveryTag, false);
      }
    };
    reject(200);
    // From now on nearly as many die in each turn as are carried.
    for (let turns = 0; turns < 40 && waiting.length === 0; turns++) {
      publish(2);
      reject(5);
      resumes.shift()?.();
    }
    expect(waiting.length).toBeGreaterThan(0);
    expect(channel.scheduler.dead.length).toBeGreaterThan(20);
  });

  it('report each publish once, and only when it is durable, whatever comes in between', () => {
    const { broker, channel, confirms, sync, publish } = arrange();
    const unsafe = new Set<number>();
    const unconfirmed = new Set<number>();
    const confirm = (text: string): void => {
      const [, number = '', multiple] = text.split(' ');
      const last = Number(number);
      expect(unconfirmed.has(last), text).toBe(true);
      const all = multiple === undefined ? [last] : [...unconfirmed].filter((tag) => tag <= last);
      for (const tag of all) {
        expect(unsafe.has(tag), `${text}, which is not safe`).toBe(false);
        unconfirmed.delete(tag);
      }
    };
    let seed = 1;
    let published = 0;
    for (let step = 0; step < 5_000; step++) {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
      const chance = (seed >>> 16) % 10;
      if (chance === 0) {
        unsafe.clear();
        sync();
      } else {
        const isPersistent = chance < 6;
        broker.batch(() => {
          for (let left = 1 + ((seed >>> 8) % 3); left > 0; left--) {
            published++;
            unconfirmed.add(published);
            if (isPersistent) unsafe.add(published);
            expect(publish(isPersistent ? 2 : 1)).toBe(published);
          }
        });
      }
      confirms.splice(0).forEach(confirm);
      expect(channel.confirms?.pending).toBe(unsafe.size);
    }
    sync();
    unsafe.clear();
    confirms.splice(0).forEach(confirm);
    expect([published > 4_000, unconfirmed.size]).toEqual([true, 0]);
  });
});
