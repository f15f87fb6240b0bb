import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EngineUnderTest } from './engine-under-test.js';
import { type Command, commands, queueNames, setups } from './model/commands.js';
import { emptyWorld, expectRest, nextDeadline, step } from './model/step.js';
import { finish, largestBudget } from './model/walk.js';
import {
  describeHeldBack,
  describeQueue,
  expect as expectFact,
  queueOf,
  type QueueSetup,
  type World,
} from './model/world.js';
import { amount } from '../amounts.js';

/** Runs commands in engine and model, which must agree after each of them and at every instant in between. */
class Duel {
  readonly engine: EngineUnderTest;
  world: World;

  constructor(
    readonly setup: readonly QueueSetup[],
    budget?: number,
  ) {
    this.engine = new EngineUnderTest(setup, budget, undefined, '3.10'); // the profile of the model
    this.world = emptyWorld(this.engine.clock.now(), budget !== undefined);
    for (const { name } of setup) this.run({ do: 'declare', queue: name });
  }

  run(command: Command): void {
    if (command.do === 'advance') return this.#advance(command);
    if (command.do === 'late') return this.#pass(command, this.world.now + command.time);
    this.#compare(command, this.engine.run(command, this.world));
  }

  #advance(command: Command & { do: 'advance' | 'late' }): void {
    const end = this.world.now + command.time;
    for (let next = nextDeadline(this.world); next !== undefined && next <= end; next = nextDeadline(this.world)) {
      this.#pass(command, Math.max(next, this.world.now));
    }
    this.#pass(command, end);
  }

  #pass(command: Command & { do: 'advance' | 'late' }, time: number): void {
    this.world.now = time;
    this.engine.advanceTo(time, command.do === 'late');
    this.#compare(command, {});
  }

  #compare(command: Command, answer: ReturnType<EngineUnderTest['run']>): void {
    this.world.seen = this.engine.seen.splice(0);
    step(this.world, command, answer, this.setup);
    const is = queueNames.map((name) => this.engine.describe(name));
    const held = this.engine.describeHeldBack();
    this.world = finish(this.world, (world) => {
      expectRest(world);
      queueNames.forEach((name, index) => {
        const queue = queueOf(world, name);
        const should = queue && describeQueue(queue);
        expectFact(is[index] === should, () => `is\n${is[index]}\nshould be\n${should}`);
      });
      const shouldHold = describeHeldBack(world);
      expectFact(held === shouldHold, () => `holds back\n${held}\nshould be\n${shouldHold}`);
      world.channels.forEach(({ held }, channel) => {
        const count = this.engine.unacked(channel);
        expectFact(count === held.length, () => `channel ${channel} holds ${count}, should be ${held.length}`);
      });
    });
  }

  /** Everything acked to its publisher is somewhere, or a rule took it. */
  expectNothingLost(): void {
    const left = new Set(this.world.ledger.map(({ id }) => id));
    const shown = queueNames.map((name) => this.engine.describe(name) ?? '').join('\n');
    const back = new Set(this.world.heldBack.map(({ message }) => message.id));
    const held = new Set(this.world.channels.flatMap((channel) => channel.held.map(({ copy }) => copy.message.id)));
    for (const [id, ok] of this.engine.confirmed) {
      const isThere = !ok || left.has(id) || held.has(id) || back.has(id) || shown.includes(`#${id} `);
      expect(isThere, `#${id} was confirmed and is nowhere`).toBe(true);
    }
  }
}

const runs = { numRuns: amount('PROPERTY_RUNS', 240, 4_000) };

describe('whatever clients do', () => {
  it('every queue holds what the model says, in its order, with its deaths (A to D, H to J, O1, R1)', () => {
    fc.assert(
      fc.property(setups, commands(40), (setup, list) => {
        const duel = new Duel(setup);
        for (const command of list) duel.run(command);
        duel.expectNothingLost();
      }),
      runs,
    );
  }, 60_000);

  it('it comes to the same in slices of any size', () => {
    fc.assert(
      fc.property(setups, commands(40), fc.integer({ min: 1, max: largestBudget }), (setup, list, budget) => {
        const duel = new Duel(setup, budget);
        for (const command of list) duel.run(command);
        duel.expectNothingLost();
      }),
      { numRuns: runs.numRuns / 4 },
    );
  }, 60_000);
});
