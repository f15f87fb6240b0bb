import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Journal } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { MemoryJournal } from '../durability/memory-journal.js';
import { EngineUnderTest } from './engine-under-test.js';
import { type Command, commands, setups } from './model/commands.js';
import { emptyWorld } from './model/step.js';
import type { QueueSetup } from './model/world.js';
import { lossBetween, Reborn, type Remains, remainsOf } from './remains.js';
import { amount } from '../amounts.js';

/** Crashes a copy of the broker at every commit, and looks what is left of it. */
class CrashEverywhere {
  readonly journal: MemoryJournal;
  readonly engine: EngineUnderTest;
  crashes = 0;
  #safe: { readonly remains: Remains; readonly published: number } = { remains: new Map(), published: 0 };
  readonly #routed = new Set<number>();
  #ready = false;

  /** @param syncs whether the next commit becomes safe; those before it then are, too */
  constructor(
    readonly setup: readonly QueueSetup[],
    budget: number | undefined,
    readonly syncs: () => boolean,
  ) {
    this.journal = new MemoryJournal(true);
    this.engine = new EngineUnderTest(setup, budget, this.#watched());
    this.#ready = true;
  }

  run(list: readonly Command[]): void {
    for (const { name } of this.setup) this.engine.run({ do: 'declare', queue: name }, this.#world());
    for (const command of list) {
      if (command.do === 'advance' || command.do === 'late') {
        this.engine.advanceTo(this.engine.clock.now() + command.time, command.do === 'late');
      } else if (command.do === 'settle') {
        this.#settle(command);
      } else {
        this.engine.run(command, this.#world());
      }
    }
  }

  /** The same program without a model: a settlement takes one of the tags that are outstanding. */
  #settle(command: Command & { do: 'settle' }): void {
    const tags = this.engine.outstanding(command.channel);
    if (tags.length === 0) return;
    const world = this.#world();
    const held = tags.map((tag) => ({ tag }));
    world.channels[command.channel]!.held = held as (typeof world.channels)[number]['held'];
    this.engine.run(command, world);
  }

  #world() {
    return emptyWorld(this.engine.clock.now(), false);
  }

  #watched(): Journal {
    const { journal } = this;
    return {
      get sequence() {
        return journal.sequence;
      },
      refuses: () => false,
      changed: (change) => journal.changed(change),
      enqueued: (queue, entry) => {
        this.#routed.add(Number(entry.message.properties.messageId));
        journal.enqueued(queue, entry);
      },
      delivered: (queue, entry) => journal.delivered(queue, entry),
      returned: (queue, entry) => journal.returned(queue, entry),
      died: (queue, entry, death) => journal.died(queue, entry, death),
      settled: (queue, entry) => journal.settled(queue, entry),
      commit: (synced) => {
        journal.commit(synced);
        if (!this.#ready) return;
        if (this.syncs()) this.#sync();
        this.#crash();
      },
    };
  }

  /** What is there now must be there after a crash; confirms that waited for it go out. */
  #sync(): void {
    const { broker, closed, published } = this.engine;
    this.#safe = { remains: remainsOf(broker, closed), published };
    this.journal.sync();
  }

  #crash(): void {
    this.crashes++;
    const reborn = new Reborn(this.journal.fork(), this.engine.clock.now());
    expect(lossBetween(this.#safe.remains, reborn.broker)).toBeUndefined();
    for (const [id, ok] of this.engine.confirmed) {
      // The comparison has checked safe messages; the journal does not know later ones.
      if (ok && this.#routed.has(id)) expect(id, 'confirmed and not safe').toBeLessThanOrEqual(this.#safe.published);
    }
    reborn.live();
    const rest = remainsOf(reborn.broker);
    const again = new Reborn(reborn.journal.fork(), this.engine.clock.now());
    expect(lossBetween(rest, again.broker)).toBeUndefined();
  }
}

const runs = amount('PROPERTY_RUNS', 240, 4_000);

describe('a crash at any commit', () => {
  it('loses, doubles and revives nothing; order and deaths stay (rules L1 to L3, J2)', () => {
    let crashes = 0;
    fc.assert(
      fc.property(setups, commands(25), (setup, list) => {
        const program = new CrashEverywhere(setup, undefined, () => true);
        program.run(list);
        crashes += program.crashes;
      }),
      { numRuns: runs / 8 },
    );
    expect(crashes).toBeGreaterThan(runs / 2);
  }, 120_000);

  it('finds a dead letter in its old queue or in its new ones, also in the middle of the way (rules A10, L1)', () => {
    fc.assert(
      fc.property(setups, commands(25), fc.integer({ min: 1, max: 6 }), (setup, list, budget) => {
        new CrashEverywhere(setup, budget, () => true).run(list);
      }),
      { numRuns: runs / 8 },
    );
  }, 120_000);

  it('leaves what was safe, and no confirm went out before (rules K1, L1)', () => {
    const safe = fc.infiniteStream(fc.boolean());
    fc.assert(
      fc.property(setups, commands(25), safe, (setup, list, stream) => {
        new CrashEverywhere(setup, undefined, () => stream.next().value as boolean).run(list);
      }),
      { numRuns: runs / 8 },
    );
  }, 120_000);
});
