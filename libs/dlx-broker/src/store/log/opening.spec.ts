import fc from 'fast-check';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { FakeDisk } from '../../../../../test/durability/fake-disk.js';
import { Broker } from '../../engine/broker/index.js';
import { int32, longstr } from '../../engine/message/index.js';
import { CountedNames } from '../../nest/testing/counted-names.js';
import { listen } from '../../../../../test/harnesses/listener.js';
import { ManualClock } from '../../nest/testing/manual-clock.js';
import { DiskJournal } from './disk-journal.js';
import { chosen, inOneTurn, sorting } from './in-turns.js';
import type { DiskJournalOptions } from './options.js';

const patterns = { compile: () => ({ matches: () => true }) };
const many = 5_000;

/** Opens a log. Later turns are taken one by one with `turn`. */
async function arrange(disk: FakeDisk, options: DiskJournalOptions = {}) {
  disk.isManual = false;
  const clock = new ManualClock();
  const turns: (() => void)[] = [];
  let isManual = false;
  const later = (act: () => void): void => void (isManual ? turns.push(act) : globalThis.setImmediate(act));
  const runtime = { now: () => 0, salt: () => 7, later };
  const journal = await DiskJournal.open(disk, { now: () => clock.now(), diskFree: 0, ...options }, runtime);
  const broker = new Broker({ clock, journal, names: new CountedNames(), patterns });
  const queue = (name = 'q') => broker.virtualHost('/').queues.get(name);
  const bodies = (name?: string): string[] => {
    const found: string[] = [];
    queue(name)?.peek(({ message }) => void found.push(Buffer.from(message.body).toString()));
    return found;
  };
  const opening = () => {
    isManual = true;
    let isOpen = false;
    const end = journal.restoreInTurns(broker).then(() => {
      isOpen = true;
      isManual = false;
      for (const act of turns.splice(0)) act();
    });
    return {
      end,
      /** @returns whether the opening goes on */
      turn: async (): Promise<boolean> => {
        turns.shift()?.();
        await setImmediate();
        return !isOpen;
      },
    };
  };
  return { disk, clock, broker, journal, queue, bodies, opening };
}

const textOf = (disk: FakeDisk): string =>
  [...disk.files().values()].map((bytes) => Buffer.from(bytes).toString('latin1')).join('');

/** A log with a queue of many messages, of which every tenth lives for a second. */
async function filled(
  args: Readonly<Record<string, ReturnType<typeof longstr>>> = {},
  count = many,
  segment?: number,
): Promise<FakeDisk> {
  const { broker, journal, disk } = await arrange(new FakeDisk(), segment === undefined ? {} : { segment });
  journal.restore(broker);
  const { channel } = listen(broker);
  channel.declareQueue('dead', { durable: true });
  const toDead = { 'x-dead-letter-exchange': longstr(''), 'x-dead-letter-routing-key': longstr('dead') };
  channel.declareQueue('q', { durable: true, arguments: new Map(Object.entries({ ...toDead, ...args })) });
  for (let n = 0; n < count; n++) {
    const limit = n % 10 === 0 ? { expiration: '1000' } : {};
    channel.publish('', 'q', { deliveryMode: 2, ...limit }, Buffer.from(`message ${n}`));
    if (segment !== undefined && n % 100 === 0) await journal.flush();
  }
  await journal.close();
  return disk;
}

describe('an opening in turns', () => {
  it('puts some messages back in each turn, and is the same as one at once', async () => {
    const disk = await filled();
    const scene = await arrange(disk.copy());
    const opening = scene.opening();
    let before = 0;
    let turns = 0;
    for (; await opening.turn(); turns++) {
      const length = scene.queue()?.length ?? 0;
      expect(length - before).toBeLessThanOrEqual(1_024);
      before = length;
    }
    expect(turns).toBeGreaterThanOrEqual(Math.floor(many / 1_024));
    const atOnce = await arrange(disk.copy());
    atOnce.journal.restore(atOnce.broker);
    expect(scene.bodies()).toEqual(atOnce.bodies());
    expect(scene.bodies()).toHaveLength(many);
  });

  it('lets no client in, expires nothing and writes nothing before its end', async () => {
    const scene = await arrange(await filled());
    const log = (): string => textOf(scene.disk);
    const before = log();
    const opening = scene.opening();
    await opening.turn();
    await opening.turn();
    expect(scene.queue()?.length).toBeGreaterThan(0);
    expect(() => scene.broker.connect()).toThrow('the broker is starting');
    scene.clock.advance(60_000);
    while (await opening.turn()) expect([scene.queue('dead')?.length, log() === before]).toEqual([0, true]);
    await opening.end;
    // The first one is at the head; the next ones wait for the messages in front of them (rule B5).
    expect([scene.queue('dead')?.length, scene.queue()?.length]).toEqual([1, many - 1]);
    expect(() => scene.broker.connect()).not.toThrow();
    await scene.journal.flush();
    expect(log() === before).toBe(false);
    const again = await arrange(scene.disk.copy());
    again.journal.restore(again.broker);
    expect([again.bodies('dead'), again.bodies().length]).toEqual([['message 0'], many - 1]);
  });

  it('counts the time to live of a queue from its end on (rule B12)', async () => {
    const scene = await arrange(await filled({ 'x-expires': int32(1_000) }));
    const opening = scene.opening();
    await opening.turn();
    scene.clock.advance(5_000);
    while (await opening.turn()) continue;
    scene.clock.advance(999);
    expect(scene.queue()).toBeDefined();
    scene.clock.advance(1);
    expect(scene.queue()).toBeUndefined();
  });

  it.each([
    ['a kill', () => undefined],
    [
      'a close',
      async ({ broker, journal }: Awaited<ReturnType<typeof arrange>>) => {
        broker.close();
        await journal.close();
      },
    ],
  ])('loses nothing by %s in its midst', async (_, end) => {
    const scene = await arrange(await filled());
    const opening = scene.opening();
    await opening.turn();
    await opening.turn();
    await end(scene);
    const again = await arrange(scene.disk.copy());
    expect(again.journal.damage.places).toEqual([]);
    again.journal.restore(again.broker);
    expect(again.bodies()).toHaveLength(many);
    while (await opening.turn()) continue;
  });
});

describe('an opening that is given up', () => {
  const reason = new Error('no longer needed');

  it('ends in the next turn of a restore, and leaves the log as it was', async () => {
    const stop = new AbortController();
    const scene = await arrange(await filled(), { signal: stop.signal });
    const before = textOf(scene.disk);
    const opening = scene.opening();
    const end = expect(opening.end).rejects.toBe(reason);
    await opening.turn();
    stop.abort(reason);
    const length = scene.queue()?.length;
    await opening.turn();
    await end;
    expect(scene.queue()?.length).toBe(length);
    expect(() => scene.broker.connect()).toThrow('the broker is starting');
    scene.broker.close();
    await scene.journal.close();
    expect(textOf(scene.disk) === before).toBe(true);
  });

  it('repairs nothing', async () => {
    const disk = await filled({}, 17_000);
    const [name, bytes] = [...disk.files()].at(-1) as [string, Buffer];
    disk.put(name, Buffer.concat([bytes, Buffer.from('a batch that is not complete')]));
    const before = textOf(disk);
    const stop = new AbortController();
    let turns = 0;
    const later = (act: () => void): void => {
      if (++turns === 2) stop.abort(reason); // the log is read, and its entries are being checked
      globalThis.setImmediate(act);
    };
    const runtime = { now: () => 0, salt: () => 7, later };
    await expect(DiskJournal.open(disk, { signal: stop.signal }, runtime)).rejects.toBe(reason);
    expect(textOf(disk) === before).toBe(true);
    await DiskJournal.open(disk, {}, runtime);
    expect(textOf(disk) === before).toBe(false);
  });

  it('closes the file of a segment that was just being opened', async () => {
    const disk = await filled({}, 500, 8_192);
    let open = 0;
    const openOf = disk.open.bind(disk);
    disk.open = async (name, how) => {
      for (let turn = 0; turn < 3; turn++) await setImmediate();
      const file = await openOf(name, how);
      open++;
      const close = file.close.bind(file);
      file.close = async () => {
        await close();
        open--;
      };
      return file;
    };
    await expect(arrange(disk, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    for (let turn = 0; turn < 10; turn++) await setImmediate();
    expect(open).toBe(0);
  });

  it('reads no further segment', async () => {
    const disk = await filled();
    await expect(arrange(disk, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const again = await arrange(disk);
    again.journal.restore(again.broker);
    expect(again.bodies()).toHaveLength(many);
  });
});

describe('long loops over numbers', () => {
  const keys = fc.array(fc.nat(50), { minLength: 1, maxLength: 64 });

  it('sort as at once, with equal keys in their order', () => {
    fc.assert(
      fc.property(keys, fc.integer({ min: 0, max: 30_000 }), (values, length) => {
        const keyOf = (number: number): number => values[(number * 7_919) % values.length] as number;
        const numbers = Uint32Array.from({ length }, (_, index) => index);
        const expected = Array.from(numbers).sort((one, other) => keyOf(one) - keyOf(other));
        expect(Array.from(inOneTurn(sorting(numbers, keyOf)))).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  it('look at numbers that are in order once', () => {
    let looks = 0;
    const numbers = Uint32Array.from({ length: 20_000 }, (_, index) => index);
    inOneTurn(sorting(numbers, (number) => (looks++, number)));
    expect(looks).toBe(20_000);
  });

  it('choose numbers in their order, and yield', () => {
    const numbers = Uint32Array.from({ length: 40_000 }, (_, index) => index);
    const work = chosen(numbers, (number) => number % 3 === 0);
    let steps = 0;
    for (let step = work.next(); ; step = work.next(), steps++) {
      if (step.done !== true) continue;
      expect(Array.from(step.value)).toEqual(Array.from(numbers).filter((number) => number % 3 === 0));
      break;
    }
    expect(steps).toBe(2);
  });
});
