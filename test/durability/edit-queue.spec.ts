import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Broker } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { editQueue } from '../../libs/dlx-broker/src/cli/data-edit.js';
import { longstr } from '../../libs/dlx-broker/src/engine/message/index.js';
import { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import { listen } from '../harnesses/listener.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { Random } from '../fuzz/random.js';
import { describeBroker } from './describe-broker.js';
import { FakeDisk } from './fake-disk.js';
import { furnish, harness } from './furnished.js';
import { lent } from './harness.js';

const folder = mkdtempSync(join(tmpdir(), 'edit-queue-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function open(disk: FakeDisk) {
  disk.isManual = false;
  const clock = new ManualClock();
  const journal = await DiskJournal.open(disk, { diskFree: 0, now: () => clock.now() });
  const broker = new Broker({ ...lent(clock), journal });
  journal.restore(broker);
  return { journal, broker, clock };
}

/** A closed store with a queue that is bound and holds messages in every state, and its neighbours. */
async function closed(): Promise<FakeDisk> {
  const disk = new FakeDisk();
  const { journal, broker, clock } = await open(disk);
  furnish(broker, clock);
  const { channel } = listen(broker);
  channel.declareExchange('in', { type: 'topic', durable: true });
  channel.bindQueue('work', 'in', 'orders.#');
  const args = new Map([
    ['x-dead-letter-exchange', longstr('')],
    ['x-dead-letter-routing-key', longstr('work')],
  ]);
  channel.declareQueue('wait', { durable: true, arguments: args });
  broker.virtualHost('/').setPolicy('to-work', {
    pattern: 'nothing',
    definition: { 'dead-letter-exchange': '', 'dead-letter-routing-key': 'work' },
  });
  await journal.close();
  return disk.copy();
}

const looked = async (disk: FakeDisk): Promise<string> => describeBroker((await open(disk)).broker);

describe('a queue that is removed or renamed in a data directory', () => {
  it('is what it was under its new name, or gone with all it held, and nothing else changes', async () => {
    const before = await closed();
    const text = await looked(before.copy());
    for (const to of ['work.old', undefined]) {
      const disk = before.copy();
      disk.isManual = false;
      const journal = await DiskJournal.open(disk, { diskFree: 0, slack: Infinity });
      expect(journal.edit('/', 'nobody', to)).toBe(false);
      expect(journal.edit('/', 'work', 'dead'), 'there is one').toBe(false);
      expect(journal.edit('/', 'work', to)).toBe(true);
      await journal.flush();
      await journal.close();
      const { broker, journal: found } = await open(disk.copy());
      const { queues } = broker.virtualHost('/');
      expect(found.damage).toEqual({ places: [], queues: [], misplaced: 0 });
      expect(queues.has('work')).toBe(false);
      if (to === undefined) continue;
      const { broker: original } = await open(before.copy());
      expect(queues.get(to)?.length).toBe(original.virtualHost('/').queues.get('work')?.length);
      const bound = broker.virtualHost('/').exchanges.get('in')?.bindings();
      expect(bound).toMatchObject([{ bindingKey: 'orders.#', destination: queues.get(to) }]);
      // And back again: then everything is as it was.
      await found.close();
      const back = disk.copy();
      back.isManual = false;
      const again = await DiskJournal.open(back, { diskFree: 0, slack: Infinity });
      expect(again.edit('/', to, 'work')).toBe(true);
      await again.flush();
      await again.close();
      expect(await looked(back.copy())).toBe(text);
    }
  });

  it('is done, or not at all, wherever the power is cut', async () => {
    const before = await closed();
    const after = new Map<string | undefined, string>();
    const untouched = await looked(before.copy());
    for (const to of ['work.old', undefined]) {
      const done = before.copy();
      done.isManual = false;
      const whole = await DiskJournal.open(done, { diskFree: 0, slack: Infinity });
      whole.edit('/', 'work', to);
      await whole.close();
      after.set(to, await looked(done.copy()));
      const random = new Random(7);
      const cuts: FakeDisk[] = [];
      const disk = before.copy();
      disk.isManual = false;
      const journal = await DiskJournal.open(disk, { diskFree: 0, slack: Infinity });
      disk.onStep = () => {
        for (let cut = 0; cut < 20; cut++) cuts.push(disk.afterPowerCut(random));
      };
      journal.edit('/', 'work', to);
      await journal.flush();
      disk.onStep = () => undefined;
      for (let cut = 0; cut < 20; cut++) cuts.push(disk.afterPowerCut(random));
      const found = new Set<string>();
      for (const cut of cuts) found.add(await looked(cut));
      expect([...found].sort()).toEqual([untouched, after.get(to)!].sort());
      expect(await looked(disk.afterPowerCut(random)), 'safe once it is flushed').toBe(after.get(to));
    }
  });

  it('is described first: counts, bindings, and the objects that name it; a dry run changes nothing', async () => {
    const directory = join(folder, 'told');
    const { data, broker, clock } = await harness(directory);
    furnish(broker, clock);
    const { channel } = listen(broker);
    channel.bindQueue('work', 'dlx', 'again.#');
    const args = new Map([
      ['x-dead-letter-exchange', longstr('')],
      ['x-dead-letter-routing-key', longstr('work')],
    ]);
    channel.declareQueue('wait', { durable: true, arguments: args });
    const definition = { 'dead-letter-exchange': '', 'dead-letter-routing-key': 'work' };
    broker.virtualHost('/').setPolicy('back', { pattern: '^none$', definition });
    const count = broker.virtualHost('/').queues.get('work')!;
    const held = count.length + count.unacked;
    const write = (lines: string[]) => async (text: string) => void lines.push(text.trimEnd());
    await data.journal.flush();
    const edit = { vhost: '/', queue: 'work', dryRun: false };
    await expect(editQueue(directory, edit, write([]))).rejects.toThrow(/is in use by this very process/);
    await data.close();
    const told: string[] = [];
    expect(await editQueue(directory, { ...edit, to: 'work.old', dryRun: true }, write(told))).toBe(0);
    expect(told).toEqual([
      `queue 'work' in vhost '/' (classic, ${held} messages) gets the name 'work.old'; its messages and arguments come along`,
      "  exchange 'dlx' is bound to it with the key 'again.#': follows it",
      "  queue 'wait' sends its dead letters to it by name: not changed",
      "  policy 'back' has it as its dead-letter-routing-key: not changed",
      'dry run: nothing was changed',
    ]);
    await expect(editQueue(directory, edit, write([]))).rejects.toThrow(
      /holds \d+ messages\. Nothing was changed; add --with/,
    );
    await expect(editQueue(directory, { ...edit, to: 'dead' }, write([]))).rejects.toThrow(/a queue 'dead' already/);
    await expect(editQueue(directory, { ...edit, to: 'amq.x' }, write([]))).rejects.toThrow(/cannot be the name/);
    await expect(editQueue(directory, { ...edit, queue: 'no' }, write([]))).rejects.toThrow(
      /no queue 'no' in vhost '\/'/,
    );
    writeFileSync(join(directory, 'in-use'), ''); // its last process died
    expect(await editQueue(directory, { ...edit, to: 'work.old' }, write(told))).toBe(0);
    expect(told.at(-1)).toBe('renamed');
    const again = await harness(directory);
    const renamed = again.broker.virtualHost('/').queues.get('work.old')!;
    expect(renamed.length).toBe(held);
    expect(listen(again.broker).channel.get('work.old')?.redelivered, 'still known to have died').toBe(true);
    await again.data.close();
    expect(await editQueue(directory, { ...edit, queue: 'work.old', withMessages: true }, write(told))).toBe(0);
    expect(told.at(-1)).toBe('removed');
    const last = await harness(directory);
    expect([...last.broker.virtualHost('/').queues.keys()].sort()).toEqual(['agreed', 'dead', 'wait']);
    expect(last.data.journal.damage.queues).toEqual([]);
    await last.data.close();
  });
});
