import {
  type Broker,
  type Channel,
  type Connection,
  deathsIn,
  type GlobalCounters,
  type Queue,
  type TotalCounters,
  type VirtualHost,
} from '../../engine/broker/index.js';
import { loopDelayOf, measureLoop } from '../../platform/index.js';
import { type DeadLetterGraph, DeadLetterGraphs, deadLetterSign, eventLoop, type Turns } from '../index.js';
import { channelKind, connectionKind, type Kind, queueKind } from './objects.js';
import type { LoopDelay, MeteredBroker, MeteredHandlers } from './source.js';

/** Which page is made. RabbitMQ's later releases have these words in the label `rabbitmq_endpoint`. */
export type Endpoint = 'aggregated' | 'per-object' | 'detailed';

/** Sums over all objects. */
export interface Totals {
  readonly queues: number;
  readonly connections: number;
  readonly channels: number;
  readonly consumers: number;
  /** Channels that have published. */
  readonly publishers: number;
  /** In the order of the numbers of each kind. */
  readonly ofQueues: readonly number[];
  readonly ofChannels: readonly number[];
  readonly ofConnections: readonly number[];
}

/** Queues that have series of their own, and the number of those that are left out. */
interface ShownQueues {
  readonly shown: readonly Queue[];
  readonly leftOut: number;
}

/** The numbers of one answer. The objects are fixed when it begins, so that no series appears twice. */
export class Scrape {
  readonly counters: TotalCounters;
  readonly globals: GlobalCounters;
  readonly queues: readonly Queue[];
  readonly connections: readonly Connection[];
  readonly channels: readonly Channel[];
  readonly now: number;
  readonly totals: Totals;
  /** Queues that hold dead letters, by name. */
  readonly deadLetterQueues: ShownQueues;
  /** Queues in which messages died, or would be dead-lettered, by name. */
  readonly dyingQueues: ShownQueues;
  /** Queues whose deliveries are stopped, by name. */
  readonly pausedQueues: ShownQueues;

  constructor(
    readonly of: MeteredBroker,
    readonly endpoint: Endpoint,
    readonly graphs: ReadonlyMap<VirtualHost, DeadLetterGraph>,
    /** Undefined while nothing is measured. */
    readonly loopDelay: LoopDelay | undefined,
  ) {
    const vhosts = [...graphs.keys()];
    this.now = of.broker.clock.now();
    this.counters = of.broker.counters;
    this.globals = of.broker.globals;
    this.queues = vhosts.flatMap(({ queues }) => [...queues.values()]);
    this.connections = vhosts.flatMap(({ connections }) => [...connections]);
    this.channels = this.connections.flatMap(({ channels }) => [...channels]);
    const ofChannels = sumsOf(channelKind, this.channels);
    this.totals = {
      queues: this.queues.length,
      connections: this.connections.length,
      channels: this.channels.length,
      consumers: ofChannels[0] ?? 0,
      publishers: this.channels.filter(({ counters }) => counters.publish > 0).length,
      ofQueues: sumsOf(queueKind, this.queues),
      ofChannels,
      ofConnections: sumsOf(connectionKind, this.connections),
    };
    const most = endpoint === 'aggregated' ? mostShown : Infinity;
    // The graphs have the queues sorted by name, so every page leaves out the same queues.
    const shown = (isShown: (queue: Queue, graph: DeadLetterGraph) => boolean): ShownQueues => {
      const all = [...graphs.values()].flatMap((graph) =>
        graph.queues.filter((queue) => !queue.deleted && isShown(queue, graph)),
      );
      return { shown: all.slice(0, most), leftOut: Math.max(0, all.length - most) };
    };
    this.deadLetterQueues = shown((queue, graph) => deadLetterSign(queue, graph) === 'proven');
    this.dyingQueues = shown(mayDie);
    this.pausedQueues = shown(({ pausing }) => pausing.state !== undefined);
  }
}

/** The most queues that `/metrics` names in a family. */
const mostShown = 1_000;

function mayDie({ settings, counters }: Queue): boolean {
  return settings.deadLetterExchange !== undefined || deathsIn(counters) > 0;
}

const sumsOf = <T>({ numbers }: Kind<T>, objects: readonly T[]): readonly number[] =>
  numbers.map(({ read }) => objects.reduce((sum, object) => sum + read(object), 0));

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
