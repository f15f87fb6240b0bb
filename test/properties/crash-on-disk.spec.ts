import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Broker, type Clock } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import { CountedNames } from '../../libs/dlx-broker/src/nest/testing/counted-names.js';
import { FakeDisk } from '../durability/fake-disk.js';
import { EngineUnderTest } from './engine-under-test.js';
import { type Command, commands, setups } from './model/commands.js';
import { emptyWorld } from './model/step.js';
import type { QueueSetup } from './model/world.js';
import { lossBetween, remainsOf } from './remains.js';
import { amount } from '../amounts.js';

const patterns = { compile: () => ({ matches: () => true }) };

/** A store in small segments, few of its bodies in memory, that is compacted all the time. */
async function openOn(disk: FakeDisk, now: () => number): Promise<DiskJournal> {
  disk.isManual = false;
  return DiskJournal.open(disk, {
    now,
    segment: 4_000,
    slack: 12_000,
    memory: 500,
    diskFree: 0,
    recordsInTurn: 2,
  });
}

/** The same program on a broker whose store is on disk; after every command it is left, and found again. */
class CrashEverywhere {
  crashes = 0;
  readonly #disk = new FakeDisk();
  #now = (): number => 0;
  #journal: DiskJournal | undefined;

  constructor(
    readonly setup: readonly QueueSetup[],
    readonly budget: number | undefined,
  ) {}

  async run(list: readonly Command[]): Promise<void> {
    const journal = (this.#journal = await openOn(this.#disk, () => this.#now()));
    const engine = new EngineUnderTest(this.setup, this.budget, journal);
    journal.restore(engine.broker);
    this.#now = () => engine.clock.now();
    const world = () => emptyWorld(engine.clock.now(), false);
    for (const { name } of this.setup) engine.run({ do: 'declare', queue: name }, world());
    for (const command of list) {
      if (command.do === 'advance' || command.do === 'late') {
        engine.advanceTo(engine.clock.now() + command.time, command.do === 'late');
      } else if (command.do === 'settle') {
        settle(engine, command);
      } else {
        engine.run(command, world());
      }
      await this.#crash(engine);
    }
    await journal.close();
  }

  /** All that is there now, and again after a crash of what came back. */
  async #crash(engine: EngineUnderTest): Promise<void> {
    this.crashes++;
    await (this.#journal as DiskJournal).flush();
    const disk = this.#disk.copy();
    const first = await this.#reborn(disk);
    expect(lossBetween(remainsOf(engine.broker), first.broker)).toBeUndefined();
    await first.journal.flush();
    const second = await this.#reborn(disk.copy());
    expect(lossBetween(remainsOf(first.broker), second.broker)).toBeUndefined();
  }

  async #reborn(disk: FakeDisk): Promise<{ readonly broker: Broker; readonly journal: DiskJournal }> {
    const now = this.#now();
    const journal = await openOn(disk, () => now);
    expect(journal.damage).toEqual({ places: [], queues: [], misplaced: 0 });
    const clock: Clock = { now: () => now, wakeAt() {} };
    const pace = { budget: 0, later: () => undefined };
    const broker = new Broker({ clock, names: new CountedNames(), patterns, journal, pace });
    journal.restore(broker);
    return { broker, journal };
  }
}

/** A settlement takes one of the tags that are outstanding. */
function settle(engine: EngineUnderTest, command: Command & { do: 'settle' }): void {
  const tags = engine.outstanding(command.channel);
  if (tags.length === 0) return;
  const world = emptyWorld(engine.clock.now(), false);
  const held = tags.map((tag) => ({ tag }));
  world.channels[command.channel]!.held = held as (typeof world.channels)[number]['held'];
  engine.run(command, world);
}

const runs = amount('PROPERTY_RUNS', 240, 4_000) / 20;

describe('a crash of a broker whose store is on disk, after any command,', () => {
  it.each([undefined, 3])(
    'loses, doubles and revives nothing (rules L1 to L3, J2); in slices of %s',
    async (budget) => {
      let crashes = 0;
      await fc.assert(
        fc.asyncProperty(setups, commands(25), async (setup, list) => {
          const program = new CrashEverywhere(setup, budget);
          await program.run(list);
          crashes += program.crashes;
        }),
        { numRuns: runs },
      );
      expect(crashes).toBeGreaterThan(runs);
    },
    120_000,
  );
});
