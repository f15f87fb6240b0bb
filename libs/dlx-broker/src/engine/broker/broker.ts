import { Connection } from './channel/connection.js';
import { VirtualHostCore } from './virtual-host/core.js';
import { methodIds } from '../message/index.js';
import { Access } from './access/access.js';
import { defaultConsumerTimeout } from './channel/unacked.js';
import { GlobalCounters, TotalCounters } from './counters.js';
import { type ClientDetails, noMetadata, type TopologyChange, type VirtualHostMetadata } from './declarations.js';
import { Deque } from './deque.js';
import { AmqpError } from './errors.js';
import { type Patterns, StoredPatterns } from './patterns.js';
import { PolicyBook } from './policy/policy-book.js';
import type { Clock, ConnectionOutbox, Journal, Names, Pace, Settled } from './ports.js';
import { defaultProfile, type Profile, type ProfileName, profiles } from './profile.js';
import { Packer, type Packing, usualPacking } from './queue/backlog/index.js';
import type { PendingLetter } from './queue/dead-lettering.js';
import { defaultDeadLetterRetryAfter } from './queue/retained.js';
import { Stalls } from './queue/stall.js';
import { Scheduler } from './scheduler/scheduler.js';

/** A virtual host with its connections. */
export class VirtualHost extends VirtualHostCore {
  /** The open ones. */
  readonly connections = new Set<Connection>();
}

/**
 * Deletes all queues and exchanges of a virtual host at once, and frees their memory in turns. The caller reports the deletion of the
 * virtual host to the journal in the same command.
 */
function deleteVirtualHost({ queues, exchanges, counters, scheduler }: VirtualHostCore): void {
  const deleted = [...queues.values()];
  for (const queue of deleted) queue.deleted = true;
  for (const { delayed } of exchanges.values()) delayed?.delete();
  queues.clear();
  exchanges.clear();
  counters.queueDeleted += deleted.length;
  scheduler.schedule({
    work: (_now, limit) => {
      const some = deleted.splice(-limit);
      for (const queue of some) for (const consumer of queue.delete()) consumer.cancelledByServer();
      return some.length;
    },
  });
}

/** Named JSON values of the whole broker. The broker itself reads only the name of its cluster. */
export class GlobalParameters {
  readonly #values = new Map<string, unknown>();

  /** @param report called after every change */
  constructor(readonly report: (change: TopologyChange) => void) {}

  get(name: string): unknown {
    return this.#values.get(name);
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  list(): readonly { readonly name: string; readonly value: unknown }[] {
    return [...this.#values].map(([name, value]) => ({ name, value }));
  }

  set(name: string, value: unknown): 'created' | 'changed' {
    const existed = this.#values.has(name);
    this.#values.set(name, value);
    this.report({ kind: 'global-parameter', change: 'added', name, value });
    return existed ? 'changed' : 'created';
  }

  /** @returns false when there was none of that name */
  delete(name: string): boolean {
    const existed = this.#values.delete(name);
    if (existed) this.report({ kind: 'global-parameter', change: 'removed', name });
    return existed;
  }
}

/** What a broker gets from its host: clock, names, journal, pace and patterns. */
export interface BrokerOptions {
  readonly clock: Clock;
  readonly names: Names;
  /** Matches the patterns of policies and permissions; without one they cannot be set. */
  readonly patterns: Patterns;
  /** Without one nothing outlives the process. */
  readonly journal?: Journal;
  /** Without one every command runs to its end in one turn. */
  readonly pace?: Pace;
  /** The version of RabbitMQ to behave like. Default `'4'`. */
  readonly rabbitmq?: ProfileName;
  /** How long a delivery may stay unacknowledged, in milliseconds; Infinity for ever (rule Q8). Default 30 minutes. */
  readonly consumerTimeout?: number;
  /**
   * When an at-least-once dead letter that did not arrive is published again, in milliseconds (rule M3): RabbitMQ's
   * `dead_letter_worker_publisher_confirm_timeout`. Default 3 minutes.
   */
  readonly deadLetterRetryAfter?: number;
  /** When queues keep waiting messages as rows. For tests only: they set a small length. */
  readonly packing?: Packing;
}

/** How a client connects: to which virtual host, as which user, and where its output goes. */
export interface ConnectOptions {
  /** Default `/`. */
  readonly vhost?: string;
  /** A user known to {@link Broker.access}; without one everything is allowed. */
  readonly user?: string;
  readonly outbox?: ConnectionOutbox;
  /** True for the short connection of one operator request: limits of connections do not apply to it. */
  readonly isBrief?: boolean;
  /** Who is at the other end; the host application has none. */
  readonly client?: ClientDetails;
}

/**
 * A broker: virtual hosts, users, and one scheduler for all of them. Ready once constructed; there is no start().
 */
export class Broker {
  readonly access: Access;
  readonly patterns: StoredPatterns;
  readonly profile: Profile;
  /** How long a delivery may stay unacknowledged where its queue says nothing, in milliseconds; Infinity for ever (rule Q8). */
  readonly consumerTimeout: number;
  readonly parameters = new GlobalParameters((change) => this.#report(change));
  /** Queues that deliver nothing, because the body of their next message cannot be read now. */
  readonly stalls = new Stalls();
  /** Dead letters that are not routed yet. */
  readonly #dead = new Deque<PendingLetter>();
  readonly #scheduler: Scheduler;
  readonly #packer: Packer | undefined;
  readonly #options: BrokerOptions;
  readonly #vhosts = new Map<string, VirtualHost>();
  /** The counts of deleted virtual hosts. */
  readonly #counted = new TotalCounters();
  readonly #globals = new GlobalCounters();
  #lastConnection = 0;
  #isClosed = false;

  constructor(options: BrokerOptions) {
    this.#options = options;
    this.profile = profiles[options.rabbitmq ?? defaultProfile];
    this.consumerTimeout = options.consumerTimeout ?? defaultConsumerTimeout;
    this.patterns = new StoredPatterns(options.patterns);
    this.access = new Access(this.patterns, this.profile, (change) => this.#report(change));
    this.#scheduler = new Scheduler(options.clock, options.pace, options.journal, this.#dead);
    const { journal, packing = usualPacking } = options;
    // A journal without rows knows entries as objects.
    this.#packer = journal !== undefined && journal.rows === undefined ? undefined : new Packer(journal?.rows, packing);
    this.addVirtualHost('/', { description: 'Default virtual host', tags: [] });
  }

  /** The clock of the host. */
  get clock(): Clock {
    return this.#options.clock;
  }

  get virtualHosts(): ReadonlyMap<string, VirtualHost> {
    return this.#vhosts;
  }

  /** The counts since the start, of all virtual hosts and of deleted ones. */
  get counters(): TotalCounters {
    const total = new TotalCounters();
    total.add(this.#counted);
    for (const { counters } of this.#vhosts.values()) total.add(counters);
    return total;
  }

  /** Counts the sizes of published messages from now on: they cost more than other counters. Idempotent. */
  measureSizes(): void {
    this.#globals.measureSizes();
    for (const { globals } of this.#vhosts.values()) globals.measureSizes();
  }

  /** The global counts since the start, of all virtual hosts and of deleted ones. */
  get globals(): GlobalCounters {
    const total = new GlobalCounters();
    total.add(this.#globals);
    for (const { globals } of this.#vhosts.values()) total.add(globals);
    return total;
  }

  /** Adds a virtual host unless it exists. Metadata, if given, replace those of an existing one. */
  addVirtualHost(name: string, metadata?: VirtualHostMetadata): VirtualHost {
    const existing = this.#vhosts.get(name);
    if (existing !== undefined) {
      if (metadata !== undefined) existing.describe(metadata);
      return existing;
    }
    const details = metadata ?? noMetadata;
    const vhost = new VirtualHost(name, {
      scheduler: this.#scheduler,
      dead: this.#dead,
      stalls: this.stalls,
      packer: this.#packer,
      access: this.access,
      names: this.#options.names,
      profile: this.profile,
      consumerTimeout: this.consumerTimeout,
      deadLetterRetryAfter: this.#options.deadLetterRetryAfter ?? defaultDeadLetterRetryAfter,
      policies: new PolicyBook(this.patterns, this.profile),
      metadata: details,
    });
    this.#vhosts.set(name, vhost);
    if (this.#globals.sizes !== undefined) vhost.globals.measureSizes();
    this.#report({ kind: 'vhost', change: 'added', vhost: name, details });
    return vhost;
  }

  /** Deletes a virtual host with everything in it, and ends its connections. */
  removeVirtualHost(name: string): void {
    const vhost = this.#vhosts.get(name);
    if (vhost === undefined) return;
    this.#vhosts.delete(name);
    const error = new AmqpError('CONNECTION_FORCED', `vhost '${name}' is deleted`);
    for (const connection of vhost.connections) connection.force(error);
    // One commit of the journal: after a crash all of it is done, or nothing.
    this.#scheduler.batch(() => {
      deleteVirtualHost(vhost);
      this.#counted.add(vhost.counters);
      this.#globals.add(vhost.globals);
      this.access.forgetVirtualHost(name);
      this.#report({ kind: 'vhost', change: 'removed', vhost: name });
    });
  }

  /** Calls `then` when all exchanges and queues have the present policies: at once, unless they are being applied in turns. */
  whenPoliciesApply(then: () => void): void {
    let waiting = 1;
    const oneMore = (): void => {
      if (--waiting === 0) then();
    };
    for (const vhost of this.#vhosts.values()) {
      waiting++;
      vhost.whenPoliciesApply(oneMore);
    }
    oneMore();
  }

  /** @throws 530 when there is no such virtual host */
  virtualHost(name: string): VirtualHost {
    const vhost = this.#vhosts.get(name);
    if (vhost !== undefined) return vhost;
    throw notAllowed(`vhost ${name} not found`);
  }

  /**
   * @throws 530 when there is no such virtual host, when the user has no permissions in it (rules N1, T3), or when
   *   the limit of connections of the virtual host or of the user is reached (rules N6, N7); the host application is
   *   not limited; 320 while the broker is held
   */
  connect(options: ConnectOptions = {}): Connection {
    if (this.#scheduler.isHeld) throw new AmqpError('CONNECTION_FORCED', 'the broker is starting');
    const vhost = this.virtualHost(options.vhost ?? '/');
    const user = options.user === undefined ? undefined : this.access.user(options.user);
    if (options.user !== undefined) {
      const { size } = vhost.connections;
      const limit = options.isBrief === true ? undefined : vhost.limits.reachedBy('max-connections', size);
      const refused = `access to vhost '${vhost.name}' refused for user '${options.user}'`;
      if (limit !== undefined) throw notAllowed(`${refused}: connection limit (${limit}) is reached`);
      if (options.isBrief !== true) this.access.presence.checkConnection(options.user);
      if (user === undefined || !this.access.mayEnter(options.user, vhost.name)) throw notAllowed(refused);
    }
    const presence = options.isBrief === true ? undefined : this.access.presence;
    return new Connection(vhost, user, ++this.#lastConnection, options, vhost.connections, presence);
  }

  /** Whether {@link close} was called: a connection that ends with it need not be opened again. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Ends all connections and withdraws the request to the clock; messages stay in their queues. Idempotent. */
  close(): void {
    this.#isClosed = true;
    const error = new AmqpError('CONNECTION_FORCED', "broker forced connection closure with reason 'shutdown'");
    for (const vhost of this.#vhosts.values()) for (const connection of vhost.connections) connection.force(error);
    this.#scheduler.stop();
  }

  /** The name of the cluster: the global parameter `cluster_name`. */
  get clusterName(): string | undefined {
    const name = this.parameters.get('cluster_name');
    return typeof name === 'string' ? name : undefined;
  }

  /** Several commands whose outputs leave together, e.g. all frames of one read of a socket. */
  batch(commands: () => void): void {
    this.#scheduler.batch(commands);
  }

  /**
   * Holds the broker until the returned function is called: all until then is one command, also over several turns of the host.
   * Nothing is delivered, expires or is committed, and no client can connect. For a journal that restores.
   */
  hold(): () => void {
    this.#scheduler.hold();
    return () => {
      // Clients can use their queues from now on only (rule B12).
      const now = this.clock.now();
      for (const { queues } of this.#vhosts.values()) for (const queue of queues.values()) queue.touch(now);
      this.#scheduler.release();
    };
  }

  /** The number of changes that the journal has received. */
  get sequence(): number {
    return this.#scheduler.sequence;
  }

  /**
   * Calls `then` when all changes so far are durable, or with the error; at once if the journal has received no change
   * since `since`.
   */
  onStored(since: number, then: Settled): void {
    this.#scheduler.batch(() => this.#scheduler.onStored(since, then));
  }

  /** Reports a change to the journal, in a command of its own. */
  #report(change: TopologyChange): void {
    const { journal } = this.#options;
    if (journal !== undefined) this.#scheduler.batch(() => journal.changed(change));
  }
}

const notAllowed = (text: string): AmqpError => new AmqpError('NOT_ALLOWED', text).blame(methodIds.connectionOpen);
