import { setImmediate } from 'node:timers/promises';
import { Broker, type Journal } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { Random } from '../fuzz/random.js';
import { wrongInTables } from './check-tables.js';
import { describeBroker } from './describe-broker.js';
import { FakeDisk } from './fake-disk.js';
import { lent, packingBy } from './harness.js';
import type { Mutant } from './power-cut.js';
import { Workload } from './workload.js';

/** Commands that free or share messages, which are more frequent here. */
const weights = { publish: 60, redrive: 10, delete: 2, reject: 14, policy: 0.5, operate: 12 };
/** Processes of a program, one after the other: the second one starts as after a crash. */
const lives = 3;

export interface Programs {
  /** Counts over all programs. */
  readonly counts: { programs: number; rows: number; hinted: number; redriven: number };
  /** The first difference, with the seed of its program. */
  readonly wrong: string | undefined;
}

export interface ProgramOptions {
  readonly seed: number;
  readonly programs: number;
  /** Commands of one life. */
  readonly steps: number;
  /** A bug that is injected into the broker with rows. */
  readonly mutant?: Mutant;
}

/** Runs the same random commands with rows and without. All visible state has to be equal. */
export async function withAndWithoutRows({ seed, programs, steps, mutant }: ProgramOptions): Promise<Programs> {
  const counts = { programs: 0, rows: 0, hinted: 0, redriven: 0 };
  for (let each = seed; each < seed + programs; each++) {
    const pair = new Pair(each, mutant);
    const wrong = await pair.run(steps).catch((error: Error) => `a broker fails: ${error.stack}`);
    counts.programs++;
    for (const name of ['rows', 'hinted', 'redriven'] as const) counts[name] += pair.counts[name];
    if (wrong !== undefined) return { counts, wrong: `seed ${each}: ${wrong}` };
    if (pair.counts.rows === 0) return { counts, wrong: `seed ${each}: no message became a row` };
  }
  return { counts, wrong: undefined };
}

class Pair {
  readonly counts = { rows: 0, hinted: 0, redriven: 0 };
  readonly #random: Random;

  constructor(
    readonly seed: number,
    readonly mutant: Mutant | undefined,
  ) {
    this.#random = new Random(seed);
  }

  async run(steps: number): Promise<string | undefined> {
    const options = { segment: this.#random.pick([2_048, 8_192]), memory: this.#random.pick([0, 3_000]) };
    let disks = [new FakeDisk(), new FakeDisk()] as const;
    let now = new ManualClock().now();
    let firstNumber = 1;
    for (let life = 0; life < lives; life++) {
      const seed = this.seed * lives + life;
      const afterCrash = life === 1;
      const sides = [
        await open(disks[0], { ...options, rows: true, mutant: this.mutant }, { now, afterCrash, seed, firstNumber }),
        await open(disks[1], { ...options, rows: false, mutant: undefined }, { now, afterCrash, seed, firstNumber }),
      ] as const;
      const wrong = differenceOf(sides) ?? (await this.#live(sides, steps));
      if (wrong !== undefined) return wrong;
      const [side] = sides;
      this.counts.rows += side.rows();
      this.counts.hinted += side.journal.stats.hinted;
      for (const [name, count] of Object.entries(side.workload.counts))
        this.counts[name as keyof typeof side.workload.counts] += count;
      disks = [disks[0].copy(), disks[1].copy()];
      now = side.clock.now() + 1;
      firstNumber = side.workload.nextNumber;
    }
    return undefined;
  }

  async #live(sides: readonly [Side, Side], steps: number): Promise<string | undefined> {
    for (let step = 0; step < steps; step++) {
      for (const { workload } of sides) workload.step();
      if (!this.#random.chance(0.4)) continue;
      for (const { journal } of sides) await journal.flush();
      await setImmediate();
      for (const { journal } of sides) await journal.flush();
      const wrong = differenceOf(sides, step % 8 === 0);
      if (wrong !== undefined) return `after command ${step}: ${wrong}`;
    }
    for (const { journal } of sides) await journal.flush();
    return differenceOf(sides);
  }
}

interface SideOptions {
  readonly segment: number;
  readonly memory: number;
  readonly rows: boolean;
  readonly mutant: Mutant | undefined;
}

interface Start {
  readonly now: number;
  readonly afterCrash: boolean;
  readonly seed: number;
  readonly firstNumber: number;
}

async function open(
  disk: FakeDisk,
  { segment, memory, rows, mutant }: SideOptions,
  { now, afterCrash, seed, firstNumber }: Start,
) {
  disk.isManual = false;
  const clock = new ManualClock(now);
  const usual = { slack: 0, factor: 1.2, longestHint: 10, diskFree: 0, now: () => clock.now() };
  const journal = await DiskJournal.open(disk, { ...usual, segment, memory, rows, afterCrash });
  let made = 0;
  if (journal.rows !== undefined) {
    const forget = journal.rows.forget.bind(journal.rows);
    journal.rows.forget = (entry) => {
      made++;
      return forget(entry);
    };
  }
  const told: Journal = mutant?.journal?.(journal) ?? journal;
  const broker = new Broker({ ...lent(clock), packing: packingBy(seed), journal: told });
  journal.restore(broker);
  const seen: string[] = [];
  const workload = new Workload(broker, {
    random: new Random(seed),
    clock,
    firstNumber,
    weights,
    confirmed: (messageId) => void seen.push(`confirmed ${messageId}`),
    wrong: (messageId) => void seen.push(`another body of ${messageId}`),
    seen: (text) => void seen.push(text),
  });
  return { broker, clock, journal, workload, seen, rows: () => made };
}

type Side = Awaited<ReturnType<typeof open>>;

/** @param looksAtAll whether every message is compared, with its body */
function differenceOf([one, other]: readonly [Side, Side], looksAtAll = true): string | undefined {
  const [seen, should] = [one.seen.splice(0), other.seen.splice(0)];
  const at = should.findIndex((text, index) => text !== seen[index]);
  if (at >= 0 || seen.length !== should.length) return `answered ${seen[at]} instead of ${should[at]}`;
  const countsOf = ({ journal, broker }: Side): string => {
    // Not the messages: the object of a row shares its body with no new message, which gets a body of its own.
    const { entries } = journal.stats;
    const lost = [...broker.virtualHosts.values()].map(({ counters }) => counters.lost);
    return JSON.stringify([entries, lost, journal.trouble, journal.damage]);
  };
  if (countsOf(one) !== countsOf(other)) return `${countsOf(one)} instead of ${countsOf(other)}`;
  const wrong = wrongInTables(one.journal);
  if (wrong !== undefined || !looksAtAll) return wrong;
  const [is, shouldBe] = [describeBroker(one.broker).split('\n'), describeBroker(other.broker).split('\n')];
  const line = shouldBe.findIndex((text, index) => text !== is[index]);
  return line < 0 && is.length === shouldBe.length ? undefined : `${is[line]} instead of ${shouldBe[line]}`;
}
