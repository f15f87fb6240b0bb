import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { Random } from '../fuzz/random.js';
import { Trace } from './trace.js';
import { Turns } from './turns.js';

/** A broken promise of the product. The run ends with the first one. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

/** Time, chance and the event loop of one run. Nothing in a run reads any other clock or random number. */
export class World {
  readonly clock = new ManualClock();
  readonly turns = new Turns();
  readonly trace: Trace;
  /** The first violation. */
  violation: Violation | undefined;
  readonly #began = this.clock.now();

  constructor(
    readonly seed: number,
    keepsTrace = false,
  ) {
    this.trace = new Trace(keepsTrace);
  }

  /** Milliseconds since the run began. */
  get time(): number {
    return this.clock.now() - this.#began;
  }

  /** Random numbers for one purpose: what one part of the world draws does not change what another part draws. */
  random(purpose: number): Random {
    return new Random(this.seed * 64 + purpose);
  }

  note(line: string): void {
    this.trace.add(`${this.time} ${line}`);
  }

  violated(what: string): void {
    this.violation ??= new Violation(what);
    this.note(`VIOLATION ${what}`);
  }

  /** Lets time pass until an instant, in milliseconds of {@link time}, or until a violation. */
  async until(time: number): Promise<void> {
    const end = this.#began + time;
    for (;;) {
      await this.turns.drain();
      if (this.violation !== undefined) return;
      if (!this.clock.step(end)) return this.turns.drain();
    }
  }
}
