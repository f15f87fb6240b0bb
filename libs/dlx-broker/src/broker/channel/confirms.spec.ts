import { describe, expect, it } from 'vitest';
import { CountedNames } from '../../testing/counted-names.js';
import { listen } from '../../testing/listener.js';
import { ManualClock } from '../../testing/manual-clock.js';
import { Broker, type Journal } from '../index.js';

/** A journal to which persistent messages are safe when it is told so, and others no matter. */
function slowJournal() {
  const waiting: ((failure?: Error) => void)[] = [];
  const journal = {
    told: 0,
    refuses: () => false,
    changed() {},
    enqueued: (_queue, { message }) => {
      if (message.properties.deliveryMode === 2) journal.told++;
    },
    delivered() {},
    returned() {},
    died() {},
    settled() {},
    commit: (synced) => {
      if (synced !== undefined) waiting.push(synced);
    },
  } as Journal & { told: number };
  // The last of a group speaks for all.
  return { journal, sync: (failure?: Error) => waiting.splice(0).at(-1)?.(failure) };
}

function arrange() {
  const { journal, sync } = slowJournal();
  const patterns = { compile: () => ({ matches: () => false }) };
  const broker = new Broker({ clock: new ManualClock(), names: new CountedNames(), patterns, journal });
  const { channel, confirms } = listen(broker);
  channel.declareQueue('q');
  channel.confirmSelect();
  const publish = (deliveryMode: number): number => channel.publish('', 'q', { deliveryMode }, new Uint8Array());
  return { broker, channel, confirms, sync, publish };
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

  it('speak once of every publish, and of none that is not safe, whatever comes in between', () => {
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
