import type { Broker, VirtualHost } from '../../engine/broker/index.js';
import { loopDelayOf, measureLoop } from '../../platform/index.js';
import { type DeadLetterGraph, DeadLetterGraphs, eventLoop, type Turns } from '../index.js';
import { type Endpoint, Scrape } from './scrape.js';
import type { MeteredBroker, MeteredHandlers, LoopDelay } from './source.js';

/** Two readers within this time, in milliseconds, see the same delays. */
const shortest = 10_000;

/** Measures how late the event loop is. Delays are forgotten when they were read. */
class LoopMeter {
  readonly #delays = measureLoop();
  #since: number;

  /** @param now milliseconds of a clock that never goes back */
  constructor(readonly now: () => number) {
    this.#since = now();
  }

  read(): LoopDelay {
    const delays = this.#delays;
    const delay =
      delays.count === 0
        ? { median: 0, p99: 0, max: 0 }
        : { median: late(delays.percentile(50)), p99: late(delays.percentile(99)), max: late(delays.max) };
    if (this.now() - this.#since >= shortest) {
      delays.reset();
      this.#since = this.now();
    }
    return delay;
  }

  stop(): void {
    this.#delays.disable();
  }
}

/** Seconds of delay in a measured interval in nanoseconds. */
const late = (interval: number): number => loopDelayOf(interval) / 1_000;

/** The parts that a {@link Meter} can do without. */
export interface MeterParts {
  readonly turns?: Turns;
  /** Shared with the management API, so that no graph is made twice. */
  readonly graphs?: DeadLetterGraphs;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
  readonly handlers?: Set<MeteredHandlers>;
}

/** The numbers of one broker: read when they are asked for, and measured from {@link start} on. */
export class Meter {
  /** The handlers of an application. */
  readonly handlers: Set<MeteredHandlers>;
  readonly turns: Turns;
  readonly #graphs: DeadLetterGraphs;
  readonly #now: () => number;
  #loop: LoopMeter | undefined;

  /** @param of undefined for an application on a RabbitMQ, which has metrics of its own */
  constructor(
    readonly of: MeteredBroker | undefined,
    parts: MeterParts = {},
  ) {
    const { turns = eventLoop, graphs = new DeadLetterGraphs(turns), now = () => performance.now(), handlers } = parts;
    this.handlers = handlers ?? new Set();
    this.turns = turns;
    this.#graphs = graphs;
    this.#now = now;
  }

  /** Measures the event loop and the sizes of messages from now on. Idempotent. */
  start(): void {
    this.of?.broker.measureSizes();
    this.#loop ??= new LoopMeter(this.#now);
  }

  stop(): void {
    this.#loop?.stop();
    this.#loop = undefined;
  }

  /** @param vhosts whose objects are counted; default: all */
  async scrape(endpoint: Endpoint, vhosts?: readonly VirtualHost[], made = this.#graphs): Promise<Scrape | undefined> {
    if (this.of === undefined) return undefined;
    const graphs = new Map<VirtualHost, DeadLetterGraph>();
    for (const vhost of vhosts ?? this.of.broker.virtualHosts.values()) graphs.set(vhost, await made.of(vhost));
    return new Scrape(this.of, endpoint, graphs, this.#loop?.read());
  }
}

/** A broker in this process, for registries. */
export interface MeteredSource {
  readonly engine: Broker;
  readonly meter: Promise<Meter>;
}
