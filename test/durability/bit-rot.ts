import { Broker, type Entry, type DelayedMessages, Queue } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import { StoreError } from '../../libs/dlx-broker/src/store/log/faults.js';
import type { Damage } from '../../libs/dlx-broker/src/store/log/options.js';
import { Random } from '../fuzz/random.js';
import { bodyOf } from './bodies.js';
import { Both } from './both.js';
import { FakeDisk } from './fake-disk.js';
import { asleep, lent } from './harness.js';
import { Ledger } from './ledger.js';
import type { StoredState } from './stored-state.js';
import { Workload } from './workload.js';

/** The number of damaged places, and the bytes of each. */
const places = 3;
const length = 64;

/** A store that was closed, and what is in it. */
export interface Closed {
  readonly disk: FakeDisk;
  readonly state: StoredState;
  /** When it was closed. */
  readonly now: number;
}

/** A harness with much in it, which is kept and then closed. The second of its processes started as after a crash. */
export async function closedStore(seed: number, segment: number): Promise<Closed> {
  const ledger = new Ledger();
  const first = await live({ disk: new FakeDisk(), ledger, seed, segment, now: new ManualClock().now(), number: 1 });
  const again = new Ledger(ledger.safe);
  again.suspect();
  const { disk, now } = await live({ ...first, ledger: again, seed: seed + 1, segment });
  return { disk, state: again.safe, now };
}

interface Life {
  readonly disk: FakeDisk;
  readonly ledger: Ledger;
  readonly seed: number;
  readonly segment: number;
  readonly now: number;
  /** Of its first message; above 1 after a crash. */
  readonly number: number;
}

async function live({ disk, ledger, seed, segment, now, number }: Life) {
  const clock = new ManualClock(now);
  disk.isManual = false;
  const journal = await DiskJournal.open(disk, {
    segment,
    memory: 0,
    longestHint: 10,
    // As of very many queues: the checkpoint stands in one segment only.
    ...(seed % 3 === 0 && { shortCheckpoint: 0 }),
    now: () => clock.now(),
    afterCrash: number > 1,
  });
  const broker = new Broker({ ...lent(clock), journal: new Both(ledger, journal) });
  journal.restore(broker);
  const workload = new Workload(broker, {
    random: new Random(seed),
    clock,
    firstNumber: number,
    confirmed: () => undefined,
    weights: { publish: 80, wait: 0.5, purge: 0, delete: 0.2, get: 6, withdraw: 0 },
  });
  for (let step = 0; step < 200; step++) {
    workload.step();
    if (step % 4 === 0) await journal.flush();
  }
  await journal.close();
  ledger.becameSafe(ledger.committed);
  return { disk: disk.copy(), now: clock.now(), number: workload.nextNumber };
}

/** The result of opening a damaged store. */
export interface Rotten {
  /** The error, if the store was refused. */
  readonly refused?: string;
  /** Messages that are missing, by queue. */
  readonly missing: ReadonlyMap<string, number>;
  readonly found: number;
  readonly damage: Damage;
  /** Bodies that are neither the written ones nor reported as lost. */
  readonly wrong: readonly string[];
  /** Messages that no queue had any more. */
  readonly revived: number;
  /** Messages that were delivered, or may have been, and that are not flagged redelivered. */
  readonly unflagged: number;
}

/** Overwrites bytes of a copy at random, and opens it. */
export async function rot(closed: Closed, seed: number): Promise<Rotten> {
  const random = new Random(seed);
  const bad = new FakeDisk();
  const files = [...closed.disk.files()].map(([name, bytes]) => [name, Buffer.from(bytes)] as const);
  const total = files.reduce((sum, [, bytes]) => sum + bytes.length, 0);
  for (let place = 0; place < places; place++) overwrite(files, random.integer(0, total - 1), random);
  for (const [name, bytes] of files) bad.put(name, bytes);
  return look(bad, closed, random.pick(['use', 'check']));
}

/** Each byte weighs the same, whatever file it is in. */
function overwrite(files: readonly (readonly [string, Buffer])[], at: number, random: Random): void {
  let from = at;
  for (const [, bytes] of files) {
    if (from < bytes.length) {
      for (let index = from; index < Math.min(from + length, bytes.length); index++)
        bytes[index] = random.integer(0, 255);
      return;
    }
    from -= bytes.length;
  }
}

/** Opens a disk that may be damaged, and compares what is served with what was written. */
export async function look(disk: FakeDisk, { state, now }: Closed, hints: 'use' | 'check' = 'use'): Promise<Rotten> {
  disk.isManual = false;
  const clock = new ManualClock(now);
  const nothing: Damage = { places: [], queues: [], misplaced: 0 };
  let journal: DiskJournal;
  try {
    journal = await DiskJournal.open(disk, { memory: 0, hints, now: () => clock.now() });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return {
      refused: error.message,
      missing: new Map(),
      found: 0,
      damage: nothing,
      wrong: [],
      revived: 0,
      unflagged: 0,
    };
  }
  const broker = new Broker({ ...lent(clock), journal, pace: asleep().pace });
  journal.restore(broker);
  const missing = new Map<string, number>();
  const wrong: string[] = [];
  let found = 0;
  let revived = 0;
  let unflagged = 0;
  for (const [place, kept] of state.messages) {
    const { vhost, name } = JSON.parse(place) as { vhost: string; name: string };
    const expected = new Map([...kept.values()].map((one) => [one.position, one]));
    const meet = ({ position, message, returns }: Entry): void => {
      found++;
      const messageId = message.properties.messageId as string;
      const should = expected.get(position);
      if (should?.message.properties.messageId === messageId) expected.delete(position);
      else revived++;
      if (should !== undefined && (should.returns > 0 || should.delivered) && returns === 0) unflagged++;
      if (!isRight(() => message.body, messageId)) wrong.push(`${messageId} in ${name}`);
    };
    const home = broker.virtualHosts.get(vhost);
    const holder = home?.messageOwner(name);
    if (holder instanceof Queue) holder.peek(meet);
    else (holder as DelayedMessages | undefined)?.each(meet);
    // A message above its delivery limit is dropped when it returns: it is not lost.
    home?.dead.each(({ queue, entry }) => {
      if (queue.home === home && queue.name === name) meet(entry);
    });
    if (expected.size > 0) missing.set(name, (missing.get(name) ?? 0) + expected.size);
  }
  const { damage } = journal;
  await journal.close();
  return { missing, found, damage, wrong, revived, unflagged };
}

/** A body that is reported as lost is not delivered, so it is not wrong. */
function isRight(read: () => Uint8Array, messageId: string): boolean {
  try {
    return bodyOf(messageId).equals(read());
  } catch (error) {
    if (error instanceof StoreError) return true;
    throw error;
  }
}
