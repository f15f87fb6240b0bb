import {
  type AmqpConnection,
  type ClientError,
  type ConnectFailure,
  ConnectionFailedError,
  type dial,
  type openConnection,
  type Runtime,
} from '../../amqp/client/index.js';
import type { Clock } from '../../engine/broker/index.js';
import { after } from '../../platform/index.js';
import type { BackendState, ServerInfo } from '../backend.js';
import { ConnectError, ConnectionLostError } from '../errors.js';
import { parseAddresses, placeOf, type ServerAddress } from './address.js';
import { type KnownServer, knownServer } from './known-server.js';
import {
  checkedCredentials,
  isExternal,
  type RabbitMqCredentials,
  type ResolvedRabbitMq,
  supplied,
  supplyFailure,
  type SupplyHost,
} from './options.js';
import { Pauses } from './pauses.js';

/** What a link gets from its host. */
export interface LinkHost extends Runtime {
  readonly clock: Clock;
  readonly random: () => number;
  readonly dial: typeof dial;
  readonly openConnection: typeof openConnection;
  readonly fault: (error: unknown) => void;
}

/** An open connection, and how it came about. */
export interface OpenLink {
  readonly connection: AmqpConnection;
  readonly server: KnownServer;
  readonly address: ServerAddress;
  readonly credentials: RabbitMqCredentials;
}

/** What a link reports. */
interface LinkEvents {
  /** Prepares a new connection. The link is ready when the promise settles, unless the connection is lost before. */
  opened(link: OpenLink): Promise<void>;
  /** The connection is prepared and in use. */
  ready(link: OpenLink): void;
  lost(failure: Error): void;
  blocked(reason: string | undefined): void;
  /** A congested connection has room again. */
  drained(): void;
}

/** Reasons that another attempt with the same URLs and credentials does not change. */
const permanent: ReadonlySet<ConnectFailure> = new Set(['credentials', 'virtual host', 'not AMQP']);

/** The first pause between two rounds of attempts, in milliseconds. */
const firstPause = 100;

/** How long a server may take to answer the close of a connection, in milliseconds: it may be half open. */
const closeTimeout = 1_500;

/** After a connection of at least this time (milliseconds), the next attempt starts without a pause. */
const steady = 5_000;

/** Keeps one connection to one of several servers. The attempts are limited at the start, and unlimited after the first success. */
export class Link {
  readonly #listeners = new Set<(state: BackendState) => void>();
  readonly #pauses: Pauses;
  readonly #ready: Promise<ServerInfo>;
  #settle: { resolve(server: ServerInfo): void; reject(failure: Error): void } | undefined;
  #state: BackendState = { kind: 'connecting', attempt: 1 };
  #open: OpenLink | undefined;
  #inUse: OpenLink | undefined;
  #openedAt = 0;
  /** The connection that is being opened, or is open. */
  #connection: AmqpConnection | undefined;
  #next = 0;
  #cancelTimer: (() => void) | undefined;
  readonly #supply: SupplyHost;
  #isStarted = false;
  #wasReady = false;
  #ended: (() => void) | undefined;

  constructor(
    private readonly options: ResolvedRabbitMq,
    private readonly host: LinkHost,
    private readonly events: LinkEvents,
  ) {
    const waits = (cancel: () => void): void => void (this.#cancelTimer = cancel);
    this.#supply = { clock: host.clock, limit: options.connectTimeout, waits };
    this.#pauses = new Pauses(firstPause, options.longestPause, host.random);
    this.#ready = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    this.#ready.catch(() => undefined); // a start that fails is reported by connect()
  }

  get state(): BackendState {
    return this.#state;
  }

  /** The connection in use; undefined while there is none. */
  get current(): OpenLink | undefined {
    return this.#inUse;
  }

  /** The open connection. One that ends reports its publishes and requests as failed before it reports its own end. */
  get connection(): AmqpConnection | undefined {
    const connection = this.#inUse?.connection;
    return connection?.isOpen === true ? connection : undefined;
  }

  get ready(): Promise<ServerInfo> {
    return this.#ready;
  }

  onState(listener: (state: BackendState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Begins to connect. Idempotent. */
  start(): Promise<ServerInfo> {
    if (!this.#isStarted) {
      this.#isStarted = true;
      void this.#round(1, undefined, this.host.clock.now());
    }
    return this.#ready;
  }

  /** Settles when the connection is closed. Idempotent. */
  async close(): Promise<void> {
    const isClosed = this.#state.kind === 'closed';
    this.#cancelTimer?.();
    const connection = this.#connection;
    if (!isClosed) this.#enter({ kind: 'closed' });
    this.#settle?.reject(new ConnectionLostError('the connection was closed by this application', false));
    this.#settle = undefined;
    if (connection === undefined) return;
    await new Promise<void>((resolve) => {
      this.#ended = resolve;
      connection.close();
    });
  }

  /** Tries each address once. */
  async #round(attempt: number, before: Error | undefined, begun: number): Promise<void> {
    if (this.#state.kind === 'closed') return;
    this.#enter(
      this.#wasReady
        ? { kind: 'reconnecting', attempt, failure: before as Error }
        : { kind: 'connecting', attempt, ...(before !== undefined && { failure: before }) },
    );
    const failures: Error[] = [];
    try {
      const addresses = parseAddresses(
        await supplied(this.options.urls, 'urls', this.#supply),
        "option 'urls' of rabbitmq()",
      );
      for (let tried = 0; tried < addresses.length; tried++) {
        const address = addresses[this.#next++ % addresses.length] as ServerAddress;
        if (this.#isClosed()) return;
        const failure = await this.#attempt(address);
        if (failure === undefined) return;
        failures.push(failure);
      }
    } catch (error) {
      failures.push(error as Error); // a function of the application failed, or returned no URL
    }
    if (!this.#isClosed()) this.#failed(failures, attempt, begun);
  }

  #isClosed(): boolean {
    return this.#state.kind === 'closed';
  }

  #failed(failures: readonly Error[], attempt: number, begun: number): void {
    const failure = failures.at(-1) as Error;
    const isPermanent = failures.every((each) => each instanceof ConnectionFailedError && permanent.has(each.reason));
    if (!this.#wasReady && (isPermanent || attempt >= this.options.startAttempts)) {
      const seconds = ((this.host.clock.now() - begun) / 1_000).toFixed(1);
      const reasons = [...new Set(failures.map(({ message }) => message.replace(/\.$/, '')))].join('; ');
      const given = `the broker of rabbitmq() was not reached in ${attempt} ${attempt === 1 ? 'attempt' : 'attempts'} (${seconds} s)`;
      const fatal = new ConnectError(`${given}: ${reasons}${remedyFor(failures)}`, isPermanent ? 'never' : 'later', {
        cause: failure,
      });
      this.#enter({ kind: 'closed', failure: fatal });
      this.#settle?.reject(fatal);
      this.#settle = undefined;
      return;
    }
    this.#cancelTimer = after(
      this.host.clock,
      this.#pauses.next(),
      () => void this.#round(attempt + 1, failure, begun),
    );
  }

  /** @returns why the attempt failed; undefined when the connection is open. Its `closed` event reports later failures */
  async #attempt(address: ServerAddress): Promise<Error | undefined> {
    let credentials: RabbitMqCredentials;
    try {
      credentials = await this.#credentialsFor(address);
    } catch (error) {
      return error instanceof Error ? error : supplyFailure('credentials', error);
    }
    if (this.#isClosed()) return undefined;
    return new Promise((resolve) => this.#connect(address, credentials, resolve));
  }

  async #credentialsFor(address: ServerAddress): Promise<RabbitMqCredentials> {
    const { user = 'guest', password = 'guest', isSecure, virtualHost } = address;
    const { credentials, tls } = this.options;
    if (credentials === undefined) return { user, password };
    const given = checkedCredentials(await supplied(credentials, 'credentials', this.#supply));
    const hasCertificate = isSecure && (tls?.cert !== undefined || tls?.pfx !== undefined);
    if (!isExternal(given) || hasCertificate) return given;
    const what = 'the login by EXTERNAL needs a client certificate: write amqps:// and tls: { cert, key }, or { pfx }';
    throw new ConnectionFailedError('credentials', placeOf(address), virtualHost, what);
  }

  #connect(address: ServerAddress, credentials: RabbitMqCredentials, answer: (failure?: Error) => void): void {
    const { host, port, isSecure, virtualHost } = address;
    const { tls = {}, connectTimeout, heartbeat, connectionName: name } = this.options;
    const transport = this.host.dial({ host, port, timeout: connectTimeout, ...(isSecure && { tls }) });
    const login = {
      place: placeOf(address),
      virtualHost,
      credentials,
      name,
      heartbeat,
      handshakeTimeout: connectTimeout,
      closeTimeout,
    };
    let wasOpen = false;
    const connection = this.host.openConnection(login, transport, this.host, {
      opened: (description) => {
        wasOpen = true;
        answer();
        const link = { connection, server: knownServer(description), address, credentials };
        void this.#prepare(link);
      },
      closed: (failure) => {
        this.#connection = undefined;
        if (!wasOpen) answer(failure ?? new Error('the connection was closed'));
        else this.#lost(failure);
        this.#ended?.();
      },
      blocked: (reason) => this.#blocked(reason),
      unblocked: () => this.#blocked(undefined),
      drained: () => this.events.drained(),
      fault: this.host.fault,
    });
    this.#connection = connection;
    if (this.#isClosed()) connection.destroy();
  }

  async #prepare(link: OpenLink): Promise<void> {
    this.#open = link;
    this.#openedAt = this.host.clock.now();
    try {
      await this.events.opened(link);
    } catch (error) {
      this.host.fault(error);
    }
    if (this.#open !== link || this.#isClosed()) return;
    this.#wasReady = true;
    this.#inUse = link;
    this.#enterOpen(link);
    this.#settle?.resolve(link.server.info);
    this.#settle = undefined;
    this.events.ready(link);
  }

  #enterOpen({ connection, server }: OpenLink): void {
    const info = server.info;
    const reason = 'the server is short of memory or disk';
    this.#enter(connection.isBlocked ? { kind: 'blocked', server: info, reason } : { kind: 'ready', server: info });
  }

  #blocked(reason: string | undefined): void {
    if (this.#open === undefined) return; // the next connection reads `isBlocked` when it opens
    this.events.blocked(reason);
    if (this.#inUse === undefined) return;
    const server = this.#inUse.server.info;
    this.#enter(reason === undefined ? { kind: 'ready', server } : { kind: 'blocked', server, reason });
  }

  #lost(failure: ClientError | undefined): void {
    this.#open = undefined;
    this.#inUse = undefined;
    if (this.#isClosed()) return;
    const reason = failure ?? new Error('the connection was closed');
    const now = this.host.clock.now();
    if (this.#wasReady) this.#enter({ kind: 'reconnecting', attempt: 1, failure: reason });
    this.events.lost(reason);
    if (now - this.#openedAt >= steady) this.#pauses.reset();
    // A server that ends each new connection at once must not be called in a loop without a pause.
    const pause = now - this.#openedAt >= steady ? 0 : this.#pauses.next();
    this.#cancelTimer = after(this.host.clock, pause, () => void this.#round(1, reason, now));
  }

  #enter(state: BackendState): void {
    this.#state = state;
    for (const listener of this.#listeners) {
      try {
        listener(state);
      } catch (error) {
        this.host.fault(error);
      }
    }
  }
}

/** What to do about a start at which no server was reached; nothing where another error says more. */
function remedyFor(failures: readonly Error[]): string {
  const [reason, another] = new Set(failures.map((each) => each instanceof ConnectionFailedError && each.reason));
  return another === undefined && reason ? (remedies[reason] ?? '') : '';
}

const remedies: Partial<Record<ConnectFailure, string>> = {
  unreachable: "; start the server there, or correct option 'urls'",
  credentials: "; correct the user and the password in option 'urls' or 'credentials'",
  'virtual host': "; create the virtual host, give the user permissions in it, or correct option 'urls'",
};
