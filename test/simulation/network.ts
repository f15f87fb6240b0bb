import { DialError, type Transport, type TransportEvents } from '../../libs/dlx-broker/src/amqp/client/transport.js';
import type { Random } from '../fuzz/random.js';
import type { Conditions } from './direction.js';
import type { Life } from './life.js';
import type { SimulatedServer } from './server.js';
import { Wire } from './wire.js';
import type { World } from './world.js';

/** A connection and the process of its client. */
interface Line {
  readonly wire: Wire;
  readonly client: Life;
}

/** Connects clients with the server, and knows all connections. */
export class Network {
  /** Called for each new connection. */
  opened: (wire: Wire) => void = () => undefined;
  readonly #random: Random;
  #lines: Line[] = [];
  /** Connections so far. */
  count = 0;

  constructor(
    private readonly world: World,
    private readonly server: SimulatedServer,
    private readonly conditions: Conditions,
  ) {
    this.#random = world.random(1);
    server.died = (vanishes) => {
      for (const { wire } of this.#lines) wire.serverDied(vanishes);
    };
  }

  /** The connections that carry bytes in both directions. */
  get wires(): readonly Wire[] {
    this.#lines = this.#lines.filter(({ wire }) => !wire.isOver);
    return this.#lines.map(({ wire }) => wire).filter(({ isSilent }) => !isSilent);
  }

  /** Sockets of the server that are not closed. */
  get openAtServer(): number {
    return this.#lines.filter(({ wire }) => !wire.server.destroyed && this.server.has(wire.server)).length;
  }

  /** A client connects. @param client its process @param timeout milliseconds after which it gives up */
  dial(client: Life, timeout: number): Transport {
    const latency = this.#random.integer(...this.conditions.latency);
    if (this.server.isGone) return new NoTransport(client, timeout, `no TCP connection within ${timeout} ms`);
    if (!this.server.isUp) return new NoTransport(client, latency, 'connect ECONNREFUSED 10.0.0.1:5672');
    const number = ++this.count;
    const random = this.world.random(1_000 + number);
    const wire = new Wire(this.world, random, this.conditions, `wire${number}`, 40_000 + number);
    this.#lines.push({ wire, client });
    this.server.accept(wire.server);
    this.opened(wire);
    return wire.client;
  }

  /** A client's process is gone. */
  clientDied(client: Life, vanishes: boolean): void {
    for (const line of this.#lines) if (line.client === client) line.wire.clientDied(vanishes);
  }
}

/** A connection that is never opened. */
class NoTransport implements Transport {
  readonly waiting = 0;
  #events: TransportEvents | undefined;
  #cancel: () => void;

  constructor(
    private readonly client: Life,
    delay: number,
    private readonly reason: string,
  ) {
    this.#cancel = client.after(delay, () => this.#closed());
  }

  attach(events: TransportEvents): void {
    this.#events = events;
  }

  write(_: Uint8Array, done?: () => void): void {
    done?.();
  }

  flush(): void {}

  end(): void {}

  destroy(): void {
    this.#cancel();
    this.client.later(() => this.#closed());
  }

  #closed(): void {
    this.#events?.closed(new DialError('connect', this.reason));
    this.#events = undefined;
  }
}
