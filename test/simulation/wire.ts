import type { Transport, TransportEvents } from '../../libs/dlx-broker/src/amqp/client/transport.js';
import type { Random } from '../fuzz/random.js';
import { passReads } from '../harnesses/common-read.js';
import { type Conditions, Direction } from './direction.js';
import { ServerSocket } from './server-socket.js';
import type { World } from './world.js';

const reset = (): Error => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });

/** A connection between a client and a server. Each end learns of the end of the connection after some time, or never. */
export class Wire {
  readonly up: Direction;
  readonly down: Direction;
  readonly server: ServerSocket;
  readonly client: ClientEnd;
  /** Both ends know that it is over. */
  isOver = false;

  constructor(
    readonly world: World,
    readonly random: Random,
    readonly conditions: Conditions,
    readonly name: string,
    port: number,
  ) {
    this.server = new ServerSocket(this, port);
    this.client = new ClientEnd(this);
    this.up = new Direction(world, random, conditions, `${name} up`, true, {
      received: (bytes) => this.server.arrived(bytes),
      ended: () => void (this.server.destroyed || this.server.push(null)),
      drained: () => undefined,
      broken: () => this.break(),
    });
    this.down = new Direction(world, random, conditions, `${name} down`, false, {
      received: (bytes) => this.client.received(bytes),
      ended: () => this.client.ended(),
      drained: () => this.client.drained(),
      broken: () => this.break(),
    });
    this.down.resume();
  }

  get isSilent(): boolean {
    return this.up.isSwallowing || this.down.isSwallowing;
  }

  /** Both ends lose the connection. What is on its way may still arrive. */
  break(): void {
    const delivers = this.random.chance(0.5);
    this.world.turns.later(() => {
      this.up.over(delivers);
      this.down.over(delivers);
      this.isOver = true;
      this.client.close(reset());
      this.server.destroy(reset());
    });
  }

  /** The client has closed its end at once. The server learns of it, unless its direction swallows. */
  clientLeft(): void {
    this.down.over(false);
    if (!this.up.isOver) this.#endArrives(this.up, () => this.server.destroy(reset()));
  }

  /** The server has closed its end. The client learns of it, unless its direction swallows. */
  serverLeft(): void {
    this.up.over(false);
    this.#endArrives(this.down, () => this.client.close(reset()));
  }

  #endArrives(direction: Direction, learn: () => void): void {
    if (direction.isSwallowing) return;
    this.#after(this.random.integer(...this.conditions.latency), () => {
      direction.over(true);
      this.isOver = true;
      learn();
    });
  }

  /** The server process is gone. @param vanishes true if its machine is gone with it, and no end of the connection is sent */
  serverDied(vanishes: boolean): void {
    this.up.isSwallowing = true;
    if (vanishes) this.down.isSwallowing = true;
    else this.serverLeft();
  }

  /** The same for the client's process. */
  clientDied(vanishes: boolean): void {
    this.client.isDead = true;
    this.down.isSwallowing = true;
    if (vanishes) this.up.isSwallowing = true;
    else this.clientLeft();
  }

  #after(delay: number, act: () => void): void {
    const tick = (): void => act();
    this.world.clock.wakeAt(this.world.clock.now() + delay, tick);
  }
}

/** The client's end. */
class ClientEnd implements Transport {
  isDead = false;
  #events: TransportEvents | undefined;
  #isClosed = false;
  #hasEnded = false;

  constructor(private readonly wire: Wire) {}

  get waiting(): number {
    return this.wire.up.waiting;
  }

  attach(events: TransportEvents): void {
    this.#events = events;
  }

  write(bytes: Uint8Array, done?: () => void): void {
    if (!this.#hasEnded && !this.#isClosed) this.wire.up.send(Buffer.from(bytes));
    done?.();
  }

  flush(): void {}

  end(): void {
    if (this.#hasEnded || this.#isClosed) return;
    this.#hasEnded = true;
    this.wire.up.finish();
  }

  destroy(): void {
    if (this.#isClosed) return;
    this.wire.clientLeft();
    this.wire.world.turns.later(() => this.close());
  }

  received(bytes: Buffer): boolean {
    if (!this.#isClosed && !this.isDead) passReads(bytes, (read) => this.#events?.received(read));
    return true;
  }

  drained(): void {
    if (!this.#isClosed && !this.isDead) this.#events?.drained();
  }

  /** The server has ended its output: as a socket that is not half-open, this end ends too. */
  ended(): void {
    if (this.isDead) return;
    this.end();
    this.close();
  }

  close(failure?: Error): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.wire.world.note(`${this.wire.name} closed at the client`);
    if (!this.isDead) this.#events?.closed(failure);
  }
}
