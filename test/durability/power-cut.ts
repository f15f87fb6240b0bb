import { setImmediate } from 'node:timers/promises';
import { Broker, type Journal, type ProfileName } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import type { Disk, Durability } from '../../libs/dlx-broker/src/store/log/options.js';
import { Random } from '../fuzz/random.js';
import { Both } from './both.js';
import { wrongInTables } from './check-tables.js';
import { describeBroker } from './describe-broker.js';
import { FakeDisk } from './fake-disk.js';
import { asleep, lent, packingBy } from './harness.js';
import { Ledger, type Possible } from './ledger.js';
import { StoredState } from './stored-state.js';
import { type Weights, Workload } from './workload.js';

/** A bug that is injected from outside, into the disk or the journal. */
export interface Mutant {
  readonly disk?: (disk: FakeDisk) => Disk;
  readonly journal?: (journal: DiskJournal) => Journal;
  /** Changes the disk before recovery. */
  readonly found?: (disk: FakeDisk) => FakeDisk;
}

export interface PowerCutOptions {
  readonly seed: number;
  /** Power cuts; a few more may be made. */
  readonly points: number;
  readonly mutant?: Mutant;
  readonly weights?: Partial<Weights>;
}

export interface Violation {
  readonly seed: number;
  /** The number of the cut, for this seed. */
  readonly point: number;
  readonly what: string;
}

export interface PowerCuts {
  readonly points: number;
  readonly violation: Violation | undefined;
  /** Calls of the disk by kind, segments opened from their hints, and messages that were rows, over all runs. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Steps of the workload and of the disk before the power cut of a process. */
const stepsOfALife = 120;
/** Processes one after the other on the same disk, with a power cut between them. */
const lives = 4;

/** Runs harnesses on disks that lose power, until there were enough cuts or one of them is a violation. */
export async function powerCuts({ seed, points, mutant = {}, weights }: PowerCutOptions): Promise<PowerCuts> {
  const counts: Record<string, number> = {};
  let done = 0;
  for (let each = seed; done < points; each++) {
    const run = new Run(each, mutant, weights);
    const violation = await run.live(points - done);
    done += run.points;
    counts['hinted'] = (counts['hinted'] ?? 0) + run.hinted;
    for (const [name, count] of Object.entries(run.counts)) counts[name] = (counts[name] ?? 0) + count;
    if (violation !== undefined) return { points: done, violation, counts };
  }
  return { points: done, violation: undefined, counts };
}

/** A disk as a process finds it, and the states that it may have. */
interface Cut {
  readonly disk: FakeDisk;
  readonly possible: Possible;
}

class Run {
  points = 0;
  /** Segments that were opened from their hints. */
  hinted = 0;
  readonly counts: Record<string, number> = {};
  readonly #random: Random;
  /** The clock of the running broker. Each broker has its own, so that timers of a dead broker never run. */
  #clock = new ManualClock();
  readonly #segment: number;
  readonly #memory: number;
  readonly #rabbitmq: ProfileName;
  readonly #cuts: Cut[] = [];
  #number = 1;
  #wrong: string | undefined;

  constructor(
    readonly seed: number,
    readonly mutant: Mutant,
    readonly weights: Partial<Weights> | undefined,
  ) {
    this.#random = new Random(seed);
    this.#segment = this.#random.pick([1_024, 4_096, 16_384]);
    this.#rabbitmq = this.#random.pick(['3.10', '4']);
    this.#memory = this.#random.pick([0, 2_000, 1_000_000]);
  }

  async live(points: number): Promise<Violation | undefined> {
    let disk = new FakeDisk();
    let state = new StoredState();
    for (let life = 0; life < lives && this.points < points; life++) {
      // What a process without syncs wrote and deleted has to be safe as soon as the next one has started.
      const all: readonly Durability[] = (this.seed + life) % 4 === 1 ? ['os', 'fsync'] : ['fsync'];
      for (const durability of all) {
        const ledger = new Ledger(state);
        const living = this.#live(disk, ledger, durability);
        const what = await living.catch((error: Error) => `the broker fails: ${error.stack}`);
        if (what !== undefined) return this.#violation(what);
        const left = durability === 'os' ? disk : disk.afterPowerCut(this.#random);
        // Time passes first, because messages delivered and messages returned at the same time look alike.
        this.#clock = new ManualClock(this.#clock.now() + this.#random.integer(1, 20));
        const found = await this.#check({ disk: left.copy(), possible: ledger.possible() });
        if (typeof found === 'string') return this.#violation(found);
        if (left !== disk) this.#count(disk.counts);
        [disk, state] = [left, found];
      }
    }
    return undefined;
  }

  /** One process, from its start to its end: with durability `fsync` to a power cut, with another one to its close. */
  async #live(disk: FakeDisk, ledger: Ledger, durability: Durability): Promise<string | undefined> {
    const random = this.#random;
    const afterCrash = random.chance(0.5);
    if (afterCrash) ledger.suspect();
    const harness = await this.#open(disk, ledger, afterCrash, durability);
    this.#clock = harness.clock;
    disk.isManual = true;
    disk.onStep = () => {
      if (durability !== 'fsync' || !random.chance(0.25)) return;
      this.#cuts.push({ disk: disk.afterPowerCut(random), possible: ledger.possible() });
    };
    harness.wake();
    const workload = new Workload(harness.broker, {
      random,
      clock: this.#clock,
      firstNumber: this.#number,
      confirmed: (messageId) => {
        if (!ledger.isSafe(messageId)) this.#wrong ??= `message ${messageId} was confirmed before it was safe`;
      },
      wrong: (messageId) => (this.#wrong ??= `message ${messageId} was delivered with another body`),
      ...(this.weights && { weights: this.weights }),
    });
    const pace = random.pick([0.2, 0.5, 0.8]);
    for (let step = 0; step < stepsOfALife; step++) {
      if (random.chance(pace)) workload.step();
      else disk.advance();
      await setImmediate();
      if (this.#wrong !== undefined) return this.#wrong;
      const wrong = wrongIn(harness);
      if (wrong !== undefined) return wrong;
      for (const cut of this.#cuts.splice(0)) {
        const found = await this.#check(cut, this.points % 4 === 0);
        if (typeof found === 'string') return found;
      }
    }
    this.#number = workload.nextNumber;
    const without = Number(durability !== 'fsync');
    const starts = { 'lives after a crash': Number(afterCrash), 'lives without syncs': without };
    this.#count({ rows: ledger.forgotten, ...starts, ...workload.counts });
    disk.onStep = () => undefined;
    if (durability === 'fsync') return undefined;
    disk.isManual = false;
    while (disk.waiting > 0) disk.advance();
    await harness.journal.close();
    ledger.becameSafe(ledger.committed);
    return undefined;
  }

  #count(counts: Readonly<Record<string, number>>): void {
    for (const [name, count] of Object.entries(counts)) this.counts[name] = (this.counts[name] ?? 0) + count;
  }

  /**
   * @param afterCrash whether the start knows of the crash, as a real one does: then some states look alike. Without that, what the log
   *   says about earlier crashes is compared as well
   * @returns the restored state, or what is wrong with it
   */
  async #check({ disk, possible }: Cut, afterCrash = false): Promise<StoredState | string> {
    this.points++;
    const cuts: FakeDisk[] = [];
    // The power may fail again while the store is opened.
    disk.onStep = () => {
      if (this.#random.chance(0.02)) cuts.push(disk.afterPowerCut(this.#random));
    };
    const found = await this.#matching(disk, possible, afterCrash);
    disk.onStep = () => undefined;
    for (const again of cuts) {
      this.points++;
      const second = await this.#matching(again, possible, afterCrash);
      if (typeof second === 'string') return `when opening was cut short: ${second}`;
    }
    return found;
  }

  async #matching(disk: FakeDisk, possible: Possible, afterCrash: boolean): Promise<StoredState | string> {
    const { found = (each) => each } = this.mutant;
    let is: string;
    let count: number;
    try {
      const harness = await this.#open(found(disk), undefined, afterCrash);
      const { places, queues, misplaced } = harness.journal.damage;
      if (places.length + queues.length + misplaced > 0) return `damage: ${JSON.stringify(harness.journal.damage)}`;
      is = describeBroker(harness.broker);
      count = countOf(harness.broker);
      this.hinted += harness.journal.stats.hinted;
    } catch (error) {
      return `cannot be opened: ${(error as Error).stack}`;
    }
    // The number of messages rules out most states quickly. It rules out all of them if a message dies at once.
    const likely = [...possible.states((state) => state.count === count)];
    const states = likely.length > 0 ? likely : [...possible.states()];
    return this.#last(states, is, afterCrash) ?? this.#all(is, possible, afterCrash);
  }

  #all(is: string, possible: Possible, afterCrash: boolean): StoredState | string {
    const states = [...possible.states()];
    const found = this.#last(states, is, afterCrash);
    if (found !== undefined) return found;
    const should = states.map((state) => this.#describe(state, afterCrash));
    return difference(is, should);
  }

  /** The last of equal states: an unacknowledged message looks like a returned one, and is not written again. */
  #last(states: readonly StoredState[], is: string, afterCrash: boolean): StoredState | undefined {
    return states.findLast((state) => this.#describe(state, afterCrash) === is);
  }

  #describe(state: StoredState, afterCrash: boolean): string {
    const broker = new Broker({ ...lent(new ManualClock(this.#clock.now()), this.#rabbitmq), pace: asleep().pace });
    state.restore(broker, afterCrash);
    return describeBroker(broker);
  }

  async #open(disk: FakeDisk, ledger: Ledger | undefined, afterCrash: boolean, durability: Durability = 'fsync') {
    const { mutant } = this;
    disk.isManual = false;
    const clock = new ManualClock(this.#clock.now());
    const journal = await DiskJournal.open(mutant.disk?.(disk) ?? disk, {
      durability,
      segment: this.#segment,
      // Compaction starts as soon as it frees anything.
      slack: 0,
      factor: 1.2,
      memory: this.#memory,
      // Some batches take many turns, and some take one.
      longestHint: 10,
      // As of very many queues: the checkpoint stands in one segment only.
      ...(this.seed % 5 < 2 && { shortCheckpoint: 0 }),
      // Both must find the same; `check` also compares the hints.
      hints: ledger === undefined && this.points % 3 === 0 ? 'check' : 'use',
      recordsInTurn: [1, 3, 4_096, 4_096, 4_096, 4_096][this.seed % 6],
      now: () => clock.now(),
      afterCrash,
    });
    const told = mutant.journal?.(journal) ?? journal;
    const { pace, wake } = asleep();
    const both = ledger === undefined ? told : new Both(ledger, told);
    const packing = packingBy(this.seed);
    const broker = new Broker({ ...lent(clock, this.#rabbitmq), packing, journal: both, pace });
    journal.restore(broker);
    return { broker, clock, journal, wake };
  }

  #violation(what: string): Violation {
    return { seed: this.seed, point: this.points, what };
  }
}

/** What is wrong while the broker runs. */
function wrongIn({ broker, journal }: { readonly broker: Broker; readonly journal: DiskJournal }): string | undefined {
  if (journal.trouble !== undefined) return `the journal fails: ${journal.trouble}`;
  for (const { counters } of broker.virtualHosts.values())
    if (counters.lost > 0) return `${counters.lost} messages were lost when they were to be delivered`;
  return wrongInTables(journal);
}

/** The number of messages: ready, delayed, or dying. */
function countOf(broker: Broker): number {
  const [vhost] = broker.virtualHosts.values();
  let count = vhost?.dead.length ?? 0; // all virtual hosts share one
  for (const { queues } of broker.virtualHosts.values()) {
    for (const { length, delayed } of queues.values()) count += length + delayed;
  }
  return count;
}

/** The smallest difference to one of these states, in lines. */
function difference(is: string, should: readonly string[]): string {
  const found = is.split('\n');
  const differences = should.map((one) => {
    const lines = one.split('\n');
    const missing = lines.filter((line) => !found.includes(line)).map((line) => `- ${line}`);
    const surplus = found.filter((line) => !lines.includes(line)).map((line) => `+ ${line}`);
    return [...missing, ...surplus];
  });
  const nearest = differences.sort((one, other) => one.length - other.length)[0] as string[];
  const text = nearest.length === 0 ? disorder(found, should) : nearest;
  return `none of ${should.length} possible states was found; the nearest differs in\n${text.join('\n')}`;
}

/** The lines around the first one that stands elsewhere. */
function disorder(found: readonly string[], should: readonly string[]): string[] {
  const same = should.map((one) => one.split('\n')).find((lines) => lines.every((line) => found.includes(line))) ?? [];
  const first = same.findIndex((line, index) => line !== found[index]);
  const part = (lines: readonly string[]): readonly string[] => lines.slice(Math.max(0, first - 3), first + 10);
  return ['another order; it should be', ...part(same), 'and is', ...part(found)];
}
