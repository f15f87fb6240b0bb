import { setImmediate as turn } from 'node:timers/promises';
import type { DlxClient } from 'dlx-broker';
import { type Kind, Messages } from './messages.js';
import { Random } from './random.js';
import { clock, historyLength } from './world.js';

/** How many messages of each kind there are: in the day before the start, and in ten seconds from then on. */
const volume: Readonly<Record<Kind, readonly [day: number, tenSeconds: number]>> = {
  order: [1_200, 60],
  payment: [1_500, 60],
  invoice: [900, 40],
  refund: [200, 10],
  shipment: [700, 30],
  mail: [900, 40],
  cart: [1_600, 12],
  stock: [1_500, 10],
  product: [500, 70],
  webhook: [900, 30],
  legacy: [300, 6],
};

const kinds = Object.keys(volume) as Kind[];

/** Publishes what happens in the shop. */
export class Traffic {
  readonly #random = new Random(20_261_122);
  readonly #messages = new Messages(this.#random);
  #timer: NodeJS.Timeout | undefined;
  #isOpen = true;

  constructor(private readonly client: DlxClient) {}

  #publish(kind: Kind): void {
    const { key, record } = this.#messages.next(kind);
    this.client.emit(key, record);
  }

  /** Simulates the day before the start. @param progress gets the share that is done, ten times */
  async simulateDay(progress: (share: number) => void): Promise<void> {
    const start = clock.now();
    const plan = kinds
      .flatMap((kind) => Array.from({ length: volume[kind][0] }, () => ({ kind, at: this.#random.next() })))
      .sort((one, other) => one.at - other.at);
    for (const [done, { kind, at }] of plan.entries()) {
      await passUntil(start + Math.floor(at * historyLength));
      this.#publish(kind);
      if (done % Math.ceil(plan.length / 10) === 0) progress(done / plan.length);
    }
    await passUntil(Date.now());
  }

  /** From now on the clock of the shop is the real one, and some thirty messages a second are published. */
  start(): void {
    let last = Date.now();
    this.#timer = setInterval(() => {
      clock.advanceTo(Math.max(clock.now(), Date.now()));
      const passed = clock.now() - last;
      last = clock.now();
      for (const kind of this.#isOpen ? kinds : [])
        if (this.#random.chance((volume[kind][1] * passed) / 10_000)) this.#publish(kind);
    }, 20);
  }

  /** Publishes no more. The clock goes on, because handlers at work wait for it. */
  close(): void {
    this.#isOpen = false;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/** Stops at each timer on the way, so that handlers act at the right time. */
async function passUntil(time: number): Promise<void> {
  do await turn();
  while (clock.step(Math.max(time, clock.now())));
}
