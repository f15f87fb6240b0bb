import { describe, expect, it } from 'vitest';
import { FakeDisk } from '../../../../../test/durability/fake-disk.js';
import { listen } from '../../../../../test/harnesses/listener.js';
import { Broker } from '../../engine/broker/index.js';
import { CountedNames } from '../../nest/testing/counted-names.js';
import { ManualClock } from '../../nest/testing/manual-clock.js';
import { Declared } from './declared.js';
import { DiskJournal } from './disk-journal.js';
import { processRuntime } from './options.js';

const many = 20_000;
const inTurn = 4_096;

async function open(disk: FakeDisk) {
  disk.isManual = false;
  const turns: (() => void)[] = [];
  let isHeld = false;
  const later = (act: () => void): void => void (isHeld ? turns.push(act) : globalThis.setImmediate(act));
  const journal = await DiskJournal.open(disk, { diskFree: 0 }, { ...processRuntime, later });
  const patterns = { compile: () => ({ matches: () => true }) };
  const broker = new Broker({ clock: new ManualClock(), journal, names: new CountedNames(), patterns });
  journal.restore(broker);
  return {
    disk,
    broker,
    journal,
    channel: () => listen(broker, { vhost: 'v' }).channel,
    /** From now on the turns of the journal are held. */
    hold: () => (isHeld = true),
    /** Takes one turn. @returns whether there was one */
    turn: (): boolean => {
      const act = turns.shift();
      act?.();
      return act !== undefined;
    },
    goOn: () => {
      isHeld = false;
      for (const act of turns.splice(0)) act();
    },
  };
}

describe('a deleted virtual host with many queues', () => {
  it('has none of them at once, and their numbers are forgotten in turns', () => {
    const declared = new Declared();
    const of = { kind: 'queue', change: 'added', vhost: 'v' } as const;
    const details = {
      type: 'classic',
      durable: true,
      autoDelete: false,
      arguments: new Map(),
      owner: undefined,
    } as const;
    const declare = (name: string) => declared.change({ ...of, name, details: { ...details, name } });
    for (let n = 0; n < many; n++) declare(`q${n}`);
    const gone = declared.change({ kind: 'vhost', change: 'removed', vhost: 'v' });
    expect([gone.length, new Set(gone).size]).toEqual([many, many]);
    expect(declared.numberOf('v', 'q1')).toBeUndefined();
    declared.change({ kind: 'vhost', change: 'added', vhost: 'v', details: { description: '', tags: [] } });
    declare('q1');
    const number = declared.numberOf('v', 'q1') as number;
    expect(gone).not.toContain(number);
    let turns = 1;
    while (declared.forgetSome(inTurn)) turns++;
    // The places of the queues, and then their declarations.
    expect(turns).toBe(Math.ceil((2 * many) / inTurn));
    expect([...declared.queues()]).toEqual([[number, { vhost: 'v', name: 'q1' }]]);
  });

  it('leaves nothing to a new one of its name, whenever the process dies', async () => {
    const scene = await open(new FakeDisk());
    scene.broker.addVirtualHost('v');
    const channel = scene.channel();
    for (let n = 0; n < many; n++) channel.declareQueue(`q${n}`, { durable: true });
    channel.publish('', 'q1', { deliveryMode: 2 }, Buffer.from('old'));
    await scene.journal.flush();
    scene.hold();
    scene.broker.removeVirtualHost('v');
    scene.broker.addVirtualHost('v');
    const again = scene.channel();
    again.declareQueue('q1', { durable: true });
    again.publish('', 'q1', { deliveryMode: 2 }, Buffer.from('new'));
    let turns = 0;
    for (; scene.turn() && turns < 3; turns++) continue;
    expect(turns).toBe(3);
    scene.goOn();
    await scene.journal.flush();
    const { broker, journal } = await open(scene.disk.copy());
    expect(journal.damage).toEqual({ places: [], queues: [], misplaced: 0 });
    const { queues } = broker.virtualHost('v');
    const bodies: string[] = [];
    queues.get('q1')?.peek(({ message }) => void bodies.push(Buffer.from(message.body).toString()));
    expect([queues.size, bodies]).toEqual([1, ['new']]);
  });
});
