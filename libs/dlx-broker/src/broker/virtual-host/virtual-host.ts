import type { Message } from '../../message/index.js';
import type { Access, AccessKind, Right } from '../access/access.js';
import type { Scheduler, Task } from '../scheduler/scheduler.js';
import type { Connection } from '../channel/connection.js';
import { TotalCounters } from '../counters.js';
import type { ExchangeDeclared, QueueDeclared, QueueOwner, User, VirtualHostMetadata } from '../declarations.js';
import type { Deque } from '../deque.js';
import { locked, noExchange, noQueue, preconditionFailed } from '../errors.js';
import { DefaultRouter } from '../exchange/default.js';
import { delayedType } from '../exchange/delay.js';
import { type Destination, Exchange } from '../exchange/exchange.js';
import { exchangeOfDelayed, DelayedMessages } from '../exchange/delayed-messages.js';
import { predeclaredExchanges } from '../exchange/predeclared.js';
import type { Router } from '../exchange/router.js';
import { kindOf } from '../exchange/types.js';
import type { MessageOwner, Journal, Names } from '../ports.js';
import type { Profile } from '../profile.js';
import type { DeadLetter } from '../queue/dead-letter.js';
import { Queue } from '../queue/queue.js';
import type { DeathListener, QueueHome } from '../queue/queue-home.js';
import type { Stalls } from '../queue/stall.js';
import { carryReply, ReplyAddresses } from './reply-addresses.js';
import { type Routed, stillThere } from './routed.js';
import { Outcome } from '../outcome.js';
import { Routing } from './routing.js';
import { discard, readdressed, redrive, type RedriveResult, type RedriveTo } from './redrive.js';
import type { Entry } from '../queue/entry.js';
import type { Wakeups } from '../scheduler/timers.js';
import type { Policies, PolicyRequest } from '../policy/policy.js';
import type { PolicyBook } from '../policy/policy-book.js';
import { PolicyWalk } from '../policy/apply-policies.js';
import { VirtualHostLimits } from './limits.js';
import type { TopologyChange } from '../topology-change.js';
import type { VirtualHostParts } from './parts.js';

type Delayed = readonly DelayedMessages[];

/**
 * A virtual host: it connects exchanges and queues. It knows exchanges and queues and walks every message from one to
 * the other.
 */
export class VirtualHost implements QueueHome {
  readonly exchanges = new Map<string, Exchange>();
  readonly queues = new Map<string, Queue>();
  readonly connections = new Set<Connection>();
  readonly replies = new ReplyAddresses();
  /** What happened here, also in queues and channels that are gone. */
  readonly counters = new TotalCounters();
  /** Called for every death in its queues. */
  readonly deathListeners = new Set<DeathListener>();
  readonly scheduler: Scheduler;
  readonly names: Names;
  readonly profile: Profile;
  readonly policies: PolicyBook;
  readonly limits: VirtualHostLimits;
  readonly #access: Access;
  #metadata: VirtualHostMetadata;
  readonly #routing = new Routing((name) => this.exchanges.get(name));
  /** While the policies are put in force. */
  #walk: PolicyWalk | undefined;

  constructor(
    readonly name: string,
    parts: VirtualHostParts,
  ) {
    this.scheduler = parts.scheduler;
    this.names = parts.names;
    this.profile = parts.profile;
    this.policies = parts.policies;
    this.#access = parts.access;
    this.limits = new VirtualHostLimits(name, (change) => this.#report(change));
    this.#metadata = parts.metadata;
    for (const declared of predeclaredExchanges) this.#makeExchange(declared);
  }

  get metadata(): VirtualHostMetadata {
    return this.#metadata;
  }

  /** Replaces what is said about it. */
  describe(metadata: VirtualHostMetadata): void {
    this.#metadata = metadata;
    this.#report({ kind: 'vhost', change: 'added', vhost: this.name, details: metadata });
  }

  get wakeups(): Wakeups {
    return this.scheduler.wakeups;
  }

  get stalls(): Stalls {
    return this.scheduler.stalls;
  }

  get dead(): Deque<DeadLetter> {
    return this.scheduler.dead;
  }

  get journal(): Journal | undefined {
    return this.scheduler.journal;
  }

  serve(queue: Queue): void {
    this.scheduler.serve(queue);
  }

  readonly clearAway = (task: Task | undefined): void => this.scheduler.clearAway(task);

  drop(queue: Queue): void {
    this.removeQueue(queue);
  }

  /** The front door of the walk: one exchange, its queues, and what each makes of the message. */
  publish(message: Message, exchange: Exchange, now: number): Outcome {
    const queues = this.#routing.route(exchange, message);
    const outcome = this.#take(message, exchange, queues, this.#routing.holds, now);
    if (exchange.name === '') this.replies.deliver(message);
    return outcome;
  }

  /** The same for a publish of a transaction, which was routed before (rule K10). */
  publishRouted(message: Message, exchange: Exchange, routed: Routed, now: number): Outcome {
    const [queues, holds] = stillThere(this, routed);
    return this.#take(message, exchange, queues, holds, now);
  }

  #take(message: Message, exchange: Exchange, queues: readonly Queue[], holds: Delayed, now: number): Outcome {
    this.counters.publish++;
    exchange.counters.publishIn++;
    return this.#enter(message, exchange, queues, holds, undefined, this.scheduler.journal, now);
  }

  /**
   * The one door into queues and holds: for publishes, for dead letters, and for messages whose delay is over.
   * @param letter what the message was before it died; undefined for one that did not
   * @param asked may refuse the message; undefined for a message that was accepted before
   */
  #enter(
    message: Message,
    exchange: Exchange,
    queues: readonly Queue[],
    holds: Delayed,
    letter: DeadLetter | undefined,
    asked: Journal | undefined,
    now: number,
  ): Outcome {
    let outcome = Outcome.Unroutable;
    for (const queue of queues) {
      if (letter === undefined) {
        exchange.counters.publishOut++;
        queue.counters.publish++;
      } else {
        if (!letter.isFor(queue, message)) continue;
        queue.counters.deadLettersIn++;
      }
      const isTaken = asked?.refuses(queue, message) !== true && queue.enqueue(message, now);
      if (isTaken) letter?.arrivedIn(queue);
      outcome |= isTaken ? Outcome.Routed : Outcome.Routed | Outcome.Refused;
    }
    for (const hold of holds) {
      const isTaken = asked?.refuses(hold, message) !== true;
      if (isTaken) hold.take(message, now);
      outcome |= isTaken ? Outcome.Routed : Outcome.Routed | Outcome.Refused;
    }
    return outcome;
  }

  /**
   * Drops what a delayed exchange holds of this message id.
   * @returns how many messages there were
   * @throws 404 when there is no such exchange, 406 when it is of another type
   */
  cancelDelayed(exchange: string, messageId: string): number {
    const { hold } = this.exchange(exchange);
    if (hold === undefined) {
      throw preconditionFailed(`exchange '${exchange}' in vhost '${this.name}' is not of type '${delayedType}'`);
    }
    let count = 0;
    this.scheduler.batch(() => (count = hold.cancel(messageId)));
    return count;
  }

  /** A queue, or the hold of a delayed exchange, by the name the journal knows it by. */
  holder(name: string): MessageOwner | undefined {
    const exchange = exchangeOfDelayed(name);
    return exchange === undefined ? this.queues.get(name) : this.exchanges.get(exchange)?.hold;
  }

  /**
   * Moves a ready message out of its queue to an exchange, in one command: it is in its new queues and gone from the old
   * one, or nothing has happened and the result says why. No consumer, confirm or dead letter has a part in it.
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

  /** The names of the queues a message would reach, changing nothing. @throws 404 when there is no such exchange */
  wouldRoute(exchange: string, routingKey: string, message: Message): readonly string[] {
    const address = { exchange, routingKey, headers: message.properties.headers };
    return [...this.queuesOf(readdressed(message, address), this.exchange(exchange))].map(({ name }) => name);
  }

  /** Where a message goes from an exchange; valid until the next call. */
  queuesOf(message: Message, exchange: Exchange): readonly Queue[] {
    return this.#routing.route(exchange, message);
  }

  /** The delayed exchanges that hold back the message of the last {@link queuesOf}. */
  get holdsOfLast(): Delayed {
    return this.#routing.holds;
  }

  /** One step of the walk after a death; what dies on the way there joins the scheduler's list. */
  routeDeadLetter(letter: DeadLetter, now: number): void {
    const exchange = this.exchanges.get(letter.exchange); // rule F2: resolved at each death
    if (exchange === undefined) return letter.queue.deadLettering.finish(letter, false, now);
    const { deadLettering } = letter.queue;
    const message = deadLettering.readdress(letter);
    const queues = this.#routing.route(exchange, message);
    const outcome = this.#enter(message, exchange, queues, this.#routing.holds, letter, undefined, now);
    if (exchange.name === '' && !carryReply(this, this.replies, message, letter, now)) return; // rule G9
    const arrived = (outcome & Outcome.Routed) !== 0 || letter.delivered !== undefined;
    deadLettering.finish(letter, arrived && (outcome & Outcome.Refused) === 0, now);
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

  /** @throws 403 unless the user may (section N of the rules) */
  check(user: User | undefined, right: Right, kind: AccessKind, name: string): void {
    if (user !== undefined) this.#access.check(user.name, this.name, right, kind, name);
  }

  /** @throws 403 when it is a topic exchange, and the user may not with this routing key (rule N5) */
  checkTopic(user: User | undefined, right: 'write' | 'read', { declared }: Exchange, routingKey: string): void {
    if (user === undefined || declared.type !== 'topic') return;
    this.#access.topics.check(user.name, this.name, right, declared.name, routingKey);
  }

  addExchange(declared: ExchangeDeclared): Exchange {
    const { name } = declared;
    this.journal?.changed({ kind: 'exchange', change: 'added', vhost: this.name, name, details: declared });
    return this.#makeExchange(declared);
  }

  /** A list and not a recursion: auto-delete exchanges that lose their last binding by it go, too (rule P4). */
  removeExchange(exchange: Exchange): void {
    const leaving = [exchange];
    for (const each of leaving) {
      const { name } = each;
      if (this.exchanges.get(name) !== each) continue; // it is on the list twice: they are bound in a circle
      this.exchanges.delete(name);
      each.hold?.end();
      leaving.push(...each.leave(this.clearAway));
      this.journal?.changed({ kind: 'exchange', change: 'removed', vhost: this.name, name });
    }
  }

  addQueue(declared: QueueDeclared, now: number): Queue {
    const inForce = this.policies.inForce(declared);
    const queue = new Queue(this, declared, inForce.settings, now);
    queue.inForce = inForce;
    this.queues.set(queue.name, queue);
    this.counters.queueCreated++;
    declared.owner?.exclusiveQueues.add(queue.name);
    this.journal?.changed({ kind: 'queue', change: 'added', vhost: this.name, name: queue.name, details: declared });
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
    for (const taker of queue.end()) taker.cancelledByServer(); // rule Q6
    this.replies.ended(queue.name);
    this.journal?.changed({ kind: 'queue', change: 'removed', vhost: this.name, name: queue.name });
  }

  /** After a binding went: an auto-delete exchange goes with its last one as a source (rule P4). */
  bindingRemoved(exchange: Exchange): void {
    if (exchange.isOver) this.removeExchange(exchange);
  }

  /** Makes or replaces a policy; it acts at once, also on messages that wait (rule F6). @throws PolicyError */
  setPolicy(name: string, request: PolicyRequest): 'created' | 'changed' {
    return this.#changePolicies('policy', name, (policies) => policies.set(name, request));
  }

  /** False when there is none of that name. */
  deletePolicy(name: string): boolean {
    return this.#changePolicies('policy', name, (policies) => policies.delete(name));
  }

  /** An upper bound set by the operator (rule F12). @throws PolicyError */
  setOperatorPolicy(name: string, request: PolicyRequest): 'created' | 'changed' {
    return this.#changePolicies('operator-policy', name, (policies) => policies.set(name, request));
  }

  /** False when there is none of that name. */
  deleteOperatorPolicy(name: string): boolean {
    return this.#changePolicies('operator-policy', name, (policies) => policies.delete(name));
  }

  #changePolicies<T>(kind: 'policy' | 'operator-policy', name: string, make: (policies: Policies) => T): T {
    const policies = kind === 'policy' ? this.policies.user : this.policies.operator;
    const result = make(policies);
    this.scheduler.batch(() => {
      const details = policies.get(name);
      const where = { kind, vhost: this.name, name };
      this.journal?.changed(details ? { ...where, change: 'added', details } : { ...where, change: 'removed' });
      this.#applyPolicies();
    });
    return result;
  }

  /** Calls `then` when everything has the policies of this moment: at once, unless a pace keeps it waiting. */
  whenPoliciesApply(then: () => void): void {
    if (this.#walk === undefined) then();
    else this.#walk.whenDone(then);
  }

  /** Puts the policies in force on everything there is (rule F6). */
  #applyPolicies(): void {
    if (this.#walk !== undefined) return this.#walk.again();
    this.#walk = new PolicyWalk(this, () => (this.#walk = undefined));
    this.scheduler.schedule(this.#walk);
  }

  /** A command of its own. */
  #report(change: TopologyChange): void {
    this.scheduler.batch(() => this.journal?.changed(change));
  }

  #makeExchange(declared: ExchangeDeclared): Exchange {
    const exchange = new Exchange(declared, this.#router(declared), this.#holdOf(declared));
    this.exchanges.set(declared.name, exchange);
    this.policies.applyToExchange(exchange);
    return exchange;
  }

  #router(declared: ExchangeDeclared): Router<Destination> {
    if (declared.name === '') return new DefaultRouter<Destination>((key) => this.queues.get(key)); // rule O7
    return kindOf(declared).createRouter<Destination>();
  }

  #holdOf(declared: ExchangeDeclared): DelayedMessages | undefined {
    if (declared.type !== delayedType) return undefined;
    const { name, wakeups, scheduler } = this;
    return new DelayedMessages(
      {
        name,
        wakeups,
        journal: scheduler.journal,
        schedule: (task) => scheduler.schedule(task),
        release: (message, now) => this.#release(message, declared.name, now),
      },
      declared,
    );
  }

  /** The delay is over: the message goes to whom the bindings of this moment name. */
  #release(message: Message, from: string, now: number): void {
    const exchange = this.exchanges.get(from) as Exchange;
    const queues = this.#routing.route(exchange, message);
    this.#enter(message, exchange, queues, this.#routing.holds, undefined, undefined, now);
  }
}
