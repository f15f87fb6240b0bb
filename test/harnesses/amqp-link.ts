import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Runtime, Transport, TransportEvents } from '../../libs/dlx-broker/src/amqp/client/transport.js';
import { ClientConnection } from '../../libs/dlx-broker/src/amqp/server/connection.js';
import { defaultLimits, type Limits, UnfinishedFrames } from '../../libs/dlx-broker/src/amqp/server/limits.js';
import { serverProperties } from '../../libs/dlx-broker/src/amqp/server/listen-options.js';
import { type Arrival, Flusher, type ListenerContext } from '../../libs/dlx-broker/src/amqp/server/listener-context.js';
import { BufferPool } from '../../libs/dlx-broker/src/amqp/wire/index.js';
import { Broker } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { CountedNames } from '../../libs/dlx-broker/src/nest/testing/counted-names.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { Alarms } from '../../libs/dlx-broker/src/platform/alarms/index.js';
import { after, policyPatterns } from '../../libs/dlx-broker/src/platform/index.js';
import { loginsOf, type PendingLogin } from '../../libs/dlx-broker/src/platform/logins/index.js';
import { passReads } from './common-read.js';

const later = (act: () => void): void => void setImmediate(act);

/** The listener, and the broker behind it, in one process with its clients: no port, and time that stands still. */
export class LinkedServer {
  readonly clock = new ManualClock();
  readonly broker: Broker;
  /** What is short. */
  isShort = false;
  readonly faults: unknown[] = [];
  readonly connections = new Set<ClientConnection>();
  readonly runtime: Runtime = { clock: this.clock, later };
  readonly #context: ListenerContext<ClientConnection>;

  /** @param given a broker of the test, and whether the server announces `basic.replace` */
  constructor(limits: Partial<Limits> = {}, given: { readonly broker?: Broker; readonly canReplace?: boolean } = {}) {
    const { canReplace = true } = given;
    const broker =
      given.broker ?? new Broker({ clock: this.clock, names: new CountedNames(), patterns: policyPatterns });
    this.broker = broker;
    broker.addVirtualHost('/');
    broker.access.setUser('guest', { passwordHash: '', tags: [] });
    broker.access.setPermissions('guest', '/', { configure: '.*', write: '.*', read: '.*' });
    const now = (): number => this.clock.now();
    this.#context = {
      broker,
      limits: { ...defaultLimits, ...limits },
      logins: loginsOf(broker.access, { now, authenticate: ({ password }) => password === 'guest' }),
      properties: canReplace ? serverProperties(broker) : new Map(),
      pool: new BufferPool(),
      flusher: new Flusher(later),
      alarms: new Alarms([{ resource: 'memory', isRaised: () => this.isShort }]),
      frames: new UnfinishedFrames(defaultLimits.unfinishedFrames),
      now,
      later,
      after: (milliseconds, act) => after(this.clock, milliseconds, act),
      log: (error) => this.faults.push(error),
      entered: (connection) => this.connections.add(connection),
      forget: (connection) => this.connections.delete(connection),
    };
  }

  /** A client's way to it. */
  link(): Link {
    const link = new Link();
    const pendingLogin = { speaks: () => undefined, rests: () => undefined, leave: () => undefined };
    const tcp = link.server as unknown as Socket;
    const arrival: Arrival = { tcp, at: this.clock.now(), pendingLogin: pendingLogin as unknown as PendingLogin };
    new ClientConnection(tcp, this.#context, arrival);
    return link;
  }

  /** Looks at alarms and heartbeats, as the listener does twice a second. */
  check(): void {
    const { alarms } = this.#context;
    if (alarms.check()) for (const connection of this.connections) connection.unblock();
    for (const connection of this.connections) connection.flow.tick(this.clock.now(), connection.tuning.heartbeat);
  }
}

/** A stream of bytes between a client and a server that tests cut, or make silent. */
export class Link implements Transport {
  /** Writes of the client, one for each piece. */
  readonly writes: Buffer[] = [];
  /** Pieces on their way, and a count of all that ever were. */
  moving = 0;
  /** Bytes that still cross, in both directions together; then the socket is closed in the middle of them. */
  bytesLeft = Infinity;
  /** Nothing crosses any more, in either direction. */
  isSilent = false;
  readonly server: ServerEnd;
  #events: TransportEvents | undefined;
  #isClosed = false;

  constructor() {
    this.server = new ServerEnd(this);
  }

  get waiting(): number {
    return 0;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  attach(events: TransportEvents): void {
    this.#events = events;
  }

  write(bytes: Uint8Array, done?: () => void): void {
    const copy = Buffer.from(bytes);
    this.writes.push(copy);
    done?.();
    this.#cross(copy, (part) => this.server.push(part));
  }

  flush(): void {}

  end(): void {
    this.#later(() => this.server.push(null));
  }

  destroy(): void {
    this.server.destroy();
    this.cut();
  }

  /** From the server. */
  arrive(bytes: Buffer): void {
    this.#cross(bytes, (part) => passReads(part, (read) => this.#events?.received(read)));
  }

  /** The socket is closed, for both. @param failure what the system says */
  cut(failure?: Error): void {
    if (this.#isClosed) return;
    this.moving++;
    setImmediate(() => {
      if (this.#isClosed) return;
      this.#isClosed = true;
      this.server.destroy();
      this.#events?.closed(failure);
    });
  }

  #cross(bytes: Buffer, act: (part: Buffer) => void): void {
    const part = bytes.subarray(0, Math.min(bytes.length, this.bytesLeft));
    this.bytesLeft -= part.length;
    if (part.length > 0) this.#later(() => act(part));
    if (part.length < bytes.length) this.#later(() => this.cut(new Error('cut')));
  }

  #later(act: () => void): void {
    this.moving++;
    setImmediate(() => {
      if (!this.isSilent && !this.#isClosed) act();
    });
  }
}

/** What the listener takes for a socket. */
class ServerEnd extends Duplex {
  readonly remoteAddress = '127.0.0.1';
  bytesRead = 0;
  bytesWritten = 0;

  constructor(readonly link: Link) {
    super();
    this.on('close', () => link.cut());
  }

  resetAndDestroy(): this {
    return this.destroy();
  }

  override _read(): void {}

  override _write(bytes: Buffer, _: string, done: () => void): void {
    this.link.arrive(Buffer.from(bytes));
    done();
  }

  override _final(done: () => void): void {
    this.link.cut();
    done();
  }
}

/** Lets everything happen that needs no time: turns of the event loop until nothing has moved for some of them. */
export async function settled(...links: readonly Link[]): Promise<void> {
  for (let quiet = 0, before = -1; quiet < 8; quiet++) {
    const now = links.reduce((sum, { moving }) => sum + moving, 0);
    if (now !== before) quiet = 0;
    before = now;
    await new Promise(setImmediate);
  }
}
