import type { Message } from '../../message/index.js';
import type { Access, AccessKind, Right } from '../access/access.js';
import { VirtualHostLimits } from '../access/limits.js';
import { GlobalCounters, TotalCounters } from '../counters.js';
import type {
  ExchangeDeclared,
  Pause,
  QueueDeclared,
  QueueOwner,
  TopologyChange,
  User,
  VirtualHostMetadata,
} from '../declarations.js';
import type { Deque } from '../deque.js';
import { locked, noExchange, noQueue, preconditionFailed } from '../errors.js';
import { DelayedMessages, delayedType, exchangeOfDelayed } from '../exchange/delayed-messages.js';
import { DefaultRouter } from '../exchange/direct.js';
import { type Destination, Exchange } from '../exchange/exchange.js';
import type { Router } from '../exchange/router.js';
import { kindOf, predeclaredExchanges } from '../exchange/types.js';
import { ApplyPolicies, type PolicyBook } from '../policy/policy-book.js';
import type { Policies, PolicyRequest } from '../policy/policy.js';
import { type Journal, type MessageOwner, type Names, Outcome } from '../ports.js';
import type { Profile } from '../profile.js';
import type { Packer } from '../queue/backlog/index.js';
import type { DeathListener, PendingLetter } from '../queue/dead-lettering.js';
import type { Entry } from '../queue/entry.js';
import { pauseOf, type PauseRequest } from '../queue/pausing.js';
import { Queue, type QueueHome } from '../queue/queue.js';
import type { Stalls } from '../queue/stall.js';
import type { Scheduler } from '../scheduler/scheduler.js';
import type { Task } from '../scheduler/task.js';
import type { Timers } from '../scheduler/timers.js';
import { discard, readdressed, redrive, type RedriveResult, type RedriveTo } from './redrive.js';
import { ReplyAddresses } from './reply-addresses.js';
import { Routing } from './routing.js';

/** What a virtual host gets from its broker. */
interface VirtualHostParts {
  readonly scheduler: Scheduler;
  readonly dead: Deque<PendingLetter>;
  readonly stalls: Stalls;
  readonly packer: Packer | undefined;
  readonly access: Access;
  readonly names: Names;
  readonly profile: Profile;
  /** How long a delivery may stay unacknowledged, in milliseconds; Infinity for ever (rule Q8). */
  readonly consumerTimeout: number;
  /** When an at-least-once dead letter that did not arrive is published again, in milliseconds (rule M3). */
  readonly deadLetterRetryAfter: number;
  readonly policies: PolicyBook;
  readonly metadata: VirtualHostMetadata;
}

/** A virtual host, as its connections know it: exchanges, queues, policies, and what connects these. */
export class VirtualHostCore implements QueueHome {
  readonly exchanges = new Map<string, Exchange>();
  readonly queues = new Map<string, Queue>();
  readonly replies = new ReplyAddresses();
  /** The counts of this virtual host, including those of deleted queues and closed channels. */
  readonly counters = new TotalCounters();
  /** Further counts for metrics: by type of queue, strategy and size. */
  readonly globals = new GlobalCounters();
  /** Called for every death in its queues. */
  readonly deathListeners = new Set<DeathListener>();
  /** Called for every message of a delayed exchange that no queue got when its delay was over. */
  readonly unroutedListeners = new Set<(exchange: string, message: Message) => void>();
  readonly scheduler: Scheduler;
  readonly names: Names;
  readonly profile: Profile;
  /** How long a delivery may stay unacknowledged where its queue says nothing, in milliseconds; Infinity for ever (rule Q8). */
  readonly consumerTimeout: number;
  readonly deadLetterRetryAfter: number;
  readonly policies: PolicyBook;
  readonly limits: VirtualHostLimits;
  readonly routing: Routing;
  /** Dead letters of all virtual hosts that are not routed yet. */
  readonly dead: Deque<PendingLetter>;
  /** Queues of all virtual hosts that deliver nothing, because a body cannot be read now. */
  readonly stalls: Stalls;
  /** Makes rows of the messages of long queues; undefined where messages stay objects. */
  readonly packer: Packer | undefined;
  /** Deliveries of a settlement that is done in turns: the client has settled them, the queue and the journal have not yet. */
  readonly leaving = new Set<{ readonly from: Queue; readonly entry: Entry }>();
  /** Grows with every change of the topology, and of settings by policies, so that readers can cache results. */
  topologyVersion = 0;
  readonly #access: Access;
  #metadata: VirtualHostMetadata;
  /** The task that applies the policies, while there is one. */
  #applying: ApplyPolicies | undefined;

  constructor(
    readonly name: string,
    parts: VirtualHostParts,
  ) {
    this.scheduler = parts.scheduler;
    this.dead = parts.dead;
    this.stalls = parts.stalls;
    this.packer = parts.packer;
    this.names = parts.names;
    this.profile = parts.profile;
    this.consumerTimeout = parts.consumerTimeout;
    this.deadLetterRetryAfter = parts.deadLetterRetryAfter;
    this.policies = parts.policies;
    this.#access = parts.access;
    this.limits = new VirtualHostLimits(name, (change) => this.#report(change));
    this.#metadata = parts.metadata;
    this.routing = new Routing(this);
    for (const declared of predeclaredExchanges) this.#makeExchange(declared);
  }

  get metadata(): VirtualHostMetadata {
    return this.#metadata;
  }

  /** Replaces its description and tags. */
  describe(metadata: VirtualHostMetadata): void {
    this.#metadata = metadata;
    this.#report({ kind: 'vhost', change: 'added', vhost: this.name, details: metadata });
  }

  get timers(): Timers {
    return this.scheduler.timers;
  }

  get journal(): Journal | undefined {
    return this.scheduler.journal;
  }

  scheduleQueue(queue: Queue): void {
    this.scheduler.scheduleQueue(queue);
  }

  readonly clearAway = (task: Task | undefined): void => this.scheduler.clearAway(task);

  dropQueue(name: string): void {
    const queue = this.queues.get(name);
    if (queue !== undefined) this.removeQueue(queue);
  }

  /**
   * Drops the messages of this message id that a delayed exchange has not released.
   * @returns the number of dropped messages
   * @throws 404 when there is no such exchange, 406 when it is of another type
   */
  cancelDelayed(exchange: string, messageId: string): number {
    const { delayed } = this.exchange(exchange);
    if (delayed === undefined) {
      throw preconditionFailed(`exchange '${exchange}' in vhost '${this.name}' is not of type '${delayedType}'`);
    }
    let count = 0;
    this.scheduler.batch(() => (count = delayed.cancel(messageId)));
    return count;
  }

  /**
   * Pauses a queue: its consumers get nothing until {@link resumeQueue}, or until the pause ends by itself. A second pause replaces
   * all but the beginning of the first (section X).
   * @throws 406 when the time or the reason is out of range
   */
  pauseQueue(queue: Queue, request: PauseRequest): Pause {
    const pause = pauseOf(request, queue.pausing.state, this.scheduler.clock.now());
    this.scheduler.batch(() => {
      if (queue.deleted) return;
      queue.pausing.begin(pause);
      this.changed({ kind: 'queue-pause', change: 'added', vhost: this.name, name: queue.name, details: pause });
    });
    return pause;
  }

  /** Ends the pause of a queue. @returns false when there is no such queue, or it is not paused */
  resumeQueue(name: string): boolean {
    const pausing = this.queues.get(name)?.pausing;
    if (pausing?.state === undefined) return false;
    this.scheduler.batch(() => {
      pausing.end(this.scheduler.clock.now());
      this.changed({ kind: 'queue-pause', change: 'removed', vhost: this.name, name });
    });
    return true;
  }

  /** A queue, or the delayed messages of an exchange, by its name in the journal. */
  messageOwner(name: string): MessageOwner | undefined {
    const exchange = exchangeOfDelayed(name);
    return exchange === undefined ? this.queues.get(name) : this.exchanges.get(exchange)?.delayed;
  }

  /**
   * Moves a ready message out of its queue to an exchange, in one command: afterwards it is in its new queues and not in the old one, or
   * nothing has happened and the result says why. It involves no consumer, confirm or dead letter.
   * @param entry as {@link Queue.browse} or {@link Queue.find} returned it
   * @throws 404 when there is no such exchange, 403 when it is internal
   */
  redrive(queue: Queue, entry: Entry, to: RedriveTo): RedriveResult {
    return redrive(this, queue, entry, to);
  }

  /** Deletes one ready message, dead-lettering nothing. @returns false when it is no longer there */
  discard(queue: Queue, entry: Entry): boolean {
    return discard(this, queue, entry);
  }

  /** The names of the queues that a message would reach. Changes nothing. @throws 404 when there is no such exchange */
  wouldRoute(exchange: string, routingKey: string, message: Message): readonly string[] {
    const address = { exchange, routingKey, headers: message.properties.headers };
    return this.routing.queuesOf(readdressed(message, address), this.exchange(exchange)).map(({ name }) => name);
  }

  /** @throws 404 */
  exchange(name: string): Exchange {
    const exchange = this.exchanges.get(name);
    if (exchange === undefined) throw noExchange(name, this.name);
    return exchange;
  }

  /** @throws 404, or 405 when it is another connection's exclusive queue (rule O4) */
  queueFor(connection: QueueOwner, name: string): Queue {
    const queue = this.queues.get(name);
    if (queue === undefined) throw noQueue(name, this.name);
    const { owner } = queue.declared;
    if (owner !== undefined && owner !== connection) throw locked(name, this.name);
    return queue;
  }

  /** @throws 403 unless the user has the right (section N of the rules) */
  check(user: User | undefined, right: Right, kind: AccessKind, name: string): void {
    if (user !== undefined) this.#access.check(user.name, this.name, right, kind, name);
  }

  /** A passive declare. @throws 403 unless the user has any right, where passive declares need one (rule N4) */
  checkPassive(user: User | undefined, kind: AccessKind, name: string): void {
    if (user !== undefined && this.profile.passiveNeedsRight) this.#access.checkAny(user.name, this.name, kind, name);
  }

  /** @throws 403 when it is a topic exchange, and the user has no right for this routing key (rule N5) */
  checkTopic(user: User | undefined, right: 'write' | 'read', { declared }: Exchange, routingKey: string): void {
    if (user === undefined || declared.type !== 'topic') return;
    this.#access.topics.check(user.name, this.name, right, declared.name, routingKey);
  }

  addExchange(declared: ExchangeDeclared): Exchange {
    const { name } = declared;
    this.changed({ kind: 'exchange', change: 'added', vhost: this.name, name, details: declared });
    return this.#makeExchange(declared);
  }

  /**
   * Deletes an exchange, and auto-delete exchanges that lose their last binding by it (rule P4): a list, not a
   * recursion.
   */
  removeExchange(exchange: Exchange): void {
    const leaving = [exchange];
    for (const each of leaving) {
      const { name } = each;
      if (this.exchanges.get(name) !== each) continue; // it is on the list twice: they are bound in a cycle
      this.exchanges.delete(name);
      each.delayed?.delete();
      leaving.push(...each.delete(this.clearAway));
      this.changed({ kind: 'exchange', change: 'removed', vhost: this.name, name });
    }
  }

  addQueue(declared: QueueDeclared, now: number): Queue {
    const queue = new Queue(this, declared, this.policies.inForce(declared), now);
    this.queues.set(queue.name, queue);
    this.counters.queueCreated++;
    declared.owner?.exclusiveQueues.add(queue.name);
    this.changed({ kind: 'queue', change: 'added', vhost: this.name, name: queue.name, details: declared });
    return queue;
  }

  removeQueue(queue: Queue): void {
    if (queue.deleted) return;
    this.queues.delete(queue.name);
    this.counters.queueDeleted++;
    queue.declared.owner?.exclusiveQueues.delete(queue.name);
    for (const source of queue.boundTo) {
      this.clearAway((source as Exchange).forget(queue));
      this.bindingRemoved(source as Exchange);
    }
    for (const consumer of queue.delete()) consumer.cancelledByServer(); // rule Q6
    this.replies.deleted(queue.name);
    this.changed({ kind: 'queue', change: 'removed', vhost: this.name, name: queue.name });
  }

  /**
   * Called after a binding was removed: an auto-delete exchange is deleted with its last binding as a source (rule P4).
   */
  bindingRemoved(exchange: Exchange): void {
    if (exchange.isUnused) this.removeExchange(exchange);
  }

  /** Adds or replaces a policy. It acts at once, also on waiting messages (rule F6). @throws PolicyError */
  setPolicy(name: string, request: PolicyRequest): 'created' | 'changed' {
    return this.#changePolicies('policy', name, (policies) => policies.set(name, request));
  }

  /** @returns false when there is no such policy */
  deletePolicy(name: string): boolean {
    return this.#changePolicies('policy', name, (policies) => policies.delete(name));
  }

  /** An upper bound set by the operator (rule F12). @throws PolicyError */
  setOperatorPolicy(name: string, request: PolicyRequest): 'created' | 'changed' {
    return this.#changePolicies('operator-policy', name, (policies) => policies.set(name, request));
  }

  /** @returns false when there is no such policy */
  deleteOperatorPolicy(name: string): boolean {
    return this.#changePolicies('operator-policy', name, (policies) => policies.delete(name));
  }

  #changePolicies<T>(kind: 'policy' | 'operator-policy', name: string, make: (policies: Policies) => T): T {
    const policies = kind === 'policy' ? this.policies.user : this.policies.operator;
    const result = make(policies);
    this.scheduler.batch(() => {
      const details = policies.get(name);
      const where = { kind, vhost: this.name, name };
      this.changed(details ? { ...where, change: 'added', details } : { ...where, change: 'removed' });
      this.#applyPolicies();
    });
    return result;
  }

  /** Calls `callback` when all exchanges and queues have the present policies: at once, unless they are being applied in turns. */
  whenPoliciesApply(callback: () => void): void {
    if (this.#applying === undefined) callback();
    else this.#applying.whenDone(callback);
  }

  /** Applies the policies to all exchanges and queues (rule F6). */
  #applyPolicies(): void {
    if (this.#applying !== undefined) return this.#applying.again();
    this.#applying = new ApplyPolicies(this, () => {
      this.#applying = undefined;
      this.topologyVersion++;
    });
    this.scheduler.schedule(this.#applying);
  }

  /** Part of a command: the topology has changed. */
  changed(change: TopologyChange): void {
    this.topologyVersion++;
    this.journal?.changed(change);
  }

  /** Reports a change to the journal, in a command of its own. */
  #report(change: TopologyChange): void {
    this.scheduler.batch(() => this.changed(change));
  }

  #makeExchange(declared: ExchangeDeclared): Exchange {
    const exchange = new Exchange(declared, this.#router(declared), this.#delayedOf(declared));
    this.exchanges.set(declared.name, exchange);
    this.policies.applyToExchange(exchange);
    return exchange;
  }

  #router(declared: ExchangeDeclared): Router<Destination> {
    if (declared.name === '') return new DefaultRouter<Destination>((key) => this.queues.get(key)); // rule O7
    return kindOf(declared).createRouter<Destination>(this.profile);
  }

  #delayedOf(declared: ExchangeDeclared): DelayedMessages | undefined {
    if (declared.type !== delayedType) return undefined;
    const { name, timers, scheduler } = this;
    return new DelayedMessages(
      {
        name,
        timers,
        journal: scheduler.journal,
        schedule: (task) => scheduler.schedule(task),
        release: (message, now) => {
          const outcome = this.routing.release(message, declared.name, now);
          if ((outcome & Outcome.Routed) !== 0) return;
          for (const listener of this.unroutedListeners) listener(declared.name, message);
        },
      },
      declared,
    );
  }
}
