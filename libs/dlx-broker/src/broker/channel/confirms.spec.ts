import { describe, expect, it } from 'vitest';
import { CountedNames } from '../../testing/counted-names.js';
import { listen } from '../../testing/listener.js';
import { ManualClock } from '../../testing/manual-clock.js';
import { Broker, type Journal } from '../index.js';

/** A journal to which persistent messages are safe when it is told so, and others no matter. */
function slowJournal() {
  const waiting: (() => void)[] = [];
  const journal = {
    told: 0,
    refuses: () => false,
    changed() {},
    enqueued: (_queue, { message }) => {
      if (message.properties.deliveryMode === 2) journal.told++;
    },
    delivered() {},
    returned() {},
    settled() {},
    commit: (synced) => {
      if (synced !== undefined) waiting.push(synced);
    },
  } as Journal & { told: number };
  // The last of a group speaks for all.
  return { journal, sync: () => waiting.splice(0).at(-1)?.() };
}

function arrange() {
  const { journal, sync } = slowJournal();
  const patterns = { compile: () => ({ matches: () => false }) };
  const broker = new Broker({ clock: new ManualClock(), names: new CountedNames(), patterns, journal });
  const { channel, confirms } = listen(broker);
  channel.declareQueue('q');
  channel.confirmSelect();
  const publish = (deliveryMode: number): number => channel.publish('', 'q', { deliveryMode }, new Uint8Array());
  return { channel, confirms, sync, publish };
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

  it('speak once of every publish, and of none that is not safe, whatever comes in between', () => {
    const { channel, confirms, sync, publish } = arrange();
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
        published++;
        unconfirmed.add(published);
        if (chance < 6) unsafe.add(published);
        expect(publish(chance < 6 ? 2 : 1)).toBe(published);
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
