import type { Broker, VirtualHost } from '../../engine/broker/index.js';
import { type DeadLetterGraph, DeadLetterGraphs, eventLoop, type Turns } from '../index.js';
import { LoopMeter } from './loop-delay.js';
import { type Endpoint, Scrape } from './scrape.js';
import type { MeteredBroker, MeteredHandlers } from './source.js';

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
