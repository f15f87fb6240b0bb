import { isLost, type Message } from '../../message/index.js';
import type { GlobalCounters, TotalCounters } from '../counters.js';
import type { Deque } from '../deque.js';
import { type DelayedMessages, delayOf } from '../exchange/delayed-messages.js';
import { type Destination, Exchange } from '../exchange/exchange.js';
import { Recipients } from '../exchange/router.js';
import { type Journal, Outcome } from '../ports.js';
import type { Profile } from '../profile.js';
import type { PendingLetter } from '../queue/dead-lettering.js';
import type { Queue } from '../queue/queue.js';
import { Timer, type Timers } from '../scheduler/timers.js';
import { isReplyAddress, type ReplyAddresses } from './reply-addresses.js';

/** What routing needs of its virtual host. */
interface RoutingHome {
  readonly exchanges: ReadonlyMap<string, Exchange>;
  readonly queues: ReadonlyMap<string, Queue>;
  readonly replies: ReplyAddresses;
  readonly counters: TotalCounters;
  readonly globals: GlobalCounters;
  readonly journal: Journal | undefined;
  readonly timers: Timers;
  readonly profile: Profile;
  /** Dead letters that the scheduler is to route. */
  readonly dead: Deque<PendingLetter>;
}

/** Where the publish of a transaction goes: found at the publish, used at the commit (rule K10). */
export interface Routed {
  /** Names of queues, each once: the queue of that name at the commit gets the message. */
  readonly queues: readonly string[];
  /** Delayed exchanges that hold the message back. */
  readonly delays: Delays;
}

/** Where a message goes at this moment of a command. */
export interface Planned {
  readonly queues: readonly Queue[];
  /** Delayed exchanges that hold the message back. */
  readonly delays: readonly DelayedMessages[];
}

type Delays = readonly DelayedMessages[];
const noDelays: Delays = [];

/** When a dead letter is routed again whose body is needed for a direct reply and cannot be read, in milliseconds. */
const replyRetryAfter = 1_000;

/** Recipients without deleted destinations, whose bindings a router may still have. */
class Found extends Recipients<Destination> {
  override add(destination: Destination): void {
    if (!destination.deleted) super.add(destination);
  }
}

/** Takes messages from an exchange to queues: publishes, dead letters, and messages whose delay is over. */
export class Routing {
  readonly #home: RoutingHome;
  readonly #found = new Found();
  readonly #queues = new Recipients<Queue>();
  /** The delayed exchanges that hold back the message of the last search. */
  #delays = noDelays;

  constructor(home: RoutingHome) {
    this.#home = home;
  }

  publish(message: Message, exchange: Exchange, now: number): Outcome {
    const queues = this.queuesOf(message, exchange);
    const outcome = this.#publishTo(message, exchange, queues, this.#delays, now);
    return exchange.name === '' ? outcome | this.#reply(message) : outcome;
  }

  /** Finds where a message would go. Nothing is changed. */
  plan(message: Message, exchange: Exchange): Planned {
    const queues = [...this.queuesOf(message, exchange)];
    return { queues, delays: this.#delays };
  }

  /** Publishes a message to the destinations that {@link plan} found in the same command. */
  publishPlanned(message: Message, exchange: Exchange, { queues, delays }: Planned, now: number): Outcome {
    const outcome = this.#publishTo(message, exchange, queues, delays, now);
    return exchange.name === '' ? outcome | this.#reply(message) : outcome;
  }

  /** Finds the queues of a message that is published later. A direct reply may leave at once (rule K11). */
  routeAhead(message: Message, exchange: Exchange): Routed {
    const { profile, replies } = this.#home;
    if (exchange.name === '' && !profile.routesReplies) replies.deliver(message);
    if (exchange.name !== '' || profile.defaultExchangeAhead) {
      const queues = this.queuesOf(message, exchange).map(({ name }) => name);
      return { queues, delays: this.#delays };
    }
    // The default exchange needs no binding: a queue that is declared before the commit gets the message, too.
    const { carbonCopies, routingKey } = message;
    if (carbonCopies === undefined) return { queues: isReplyAddress(routingKey) ? [] : [routingKey], delays: noDelays };
    const keys = new Set([routingKey, ...carbonCopies.cc, ...carbonCopies.bcc]);
    return { queues: [...keys].filter((key) => !isReplyAddress(key)), delays: noDelays };
  }

  /** Publishes a message of a transaction to the queues and delayed exchanges of {@link routeAhead} that still exist. */
  publishRouted(message: Message, exchange: Exchange, { queues, delays }: Routed, now: number): Outcome {
    const { exchanges } = this.#home;
    const found: Queue[] = [];
    for (const name of queues) {
      const queue = this.#home.queues.get(name);
      if (queue !== undefined) found.push(queue);
    }
    const left = delays.filter((delayed) => exchanges.get(delayed.exchange)?.delayed === delayed);
    const outcome = this.#publishTo(message, exchange, found, left, now);
    return exchange.name === '' && this.#home.profile.routesReplies ? outcome | this.#reply(message) : outcome;
  }

  /** Rule S2: the outcome as far as it is a direct reply. */
  #reply(message: Message): Outcome {
    const { profile, replies } = this.#home;
    return replies.deliver(message) && profile.routesReplies ? Outcome.Routed : Outcome.Unroutable;
  }

  /** Routes a message whose delay is over, by the bindings of this moment. */
  release(message: Message, exchangeName: string, now: number): Outcome {
    const exchange = this.#home.exchanges.get(exchangeName) as Exchange;
    const queues = this.queuesOf(message, exchange);
    return this.#enter(message, exchange, queues, this.#delays, undefined, undefined, now);
  }

  /** Called by the scheduler. Messages that die when they are enqueued are added to the scheduler's list. */
  routeDeadLetter(letter: PendingLetter, now: number): void {
    const { deadLettering } = letter.queue;
    const exchange = this.#home.exchanges.get(letter.exchange); // rule F2: resolved at each death
    if (exchange === undefined) return deadLettering.finish(letter, false, 'disabled', now);
    const message = deadLettering.readdress(letter);
    const queues = this.queuesOf(message, exchange);
    const outcome = this.#enter(message, exchange, queues, this.#delays, letter, undefined, now);
    if (exchange.name === '' && !this.#deliverReply(message, letter, now)) return; // rule G9
    const arrived = (outcome & Outcome.Routed) !== 0 || letter.delivered !== undefined;
    deadLettering.finish(letter, arrived && (outcome & Outcome.Refused) === 0, 'at_most_once', now);
  }

  /**
   * Finds the queues of a message: all its keys, exchange-to-exchange bindings, alternate exchanges (rules G2 to G6).
   * @returns the queues, each once; valid until the next call
   */
  queuesOf(message: Message, exchange: Exchange): readonly Queue[] {
    this.#delays = noDelays;
    if (exchange.delayed !== undefined && delayOf(message) > 0) {
      this.#delays = [exchange.delayed];
      return [];
    }
    if (!exchange.isPlain) return this.#queuesBehind(exchange, message);
    this.#ask(exchange, message);
    return this.#found.all as readonly Queue[]; // a plain exchange is bound to queues only
  }

  #publishTo(message: Message, exchange: Exchange, queues: readonly Queue[], delays: Delays, now: number): Outcome {
    const { counters, globals } = this.#home;
    counters.publish++;
    exchange.counters.publishIn++;
    globals.routed += queues.length;
    if (globals.sizes !== undefined) globals.sizes.record(message.size);
    return this.#enter(message, exchange, queues, delays, undefined, this.#home.journal, now);
  }

  /**
   * Every message enters a queue or a delayed exchange through this function.
   * @param letter the message before its death; undefined for a message that did not die
   * @param asked may refuse the message; undefined for a message that was accepted before
   */
  #enter(
    message: Message,
    exchange: Exchange,
    queues: readonly Queue[],
    delays: Delays,
    letter: PendingLetter | undefined,
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
      const isTaken = asked?.refuses(queue, message) !== true && queue.enqueue(message, now, letter);
      if (isTaken) letter?.arrivedIn(queue);
      outcome |= isTaken ? Outcome.Routed : Outcome.Routed | Outcome.Refused;
      if (queue.isTooLong) outcome |= Outcome.Dropping;
    }
    return delays.length === 0 ? outcome : outcome | this.#holdBack(message, delays, asked, now);
  }

  /** Puts a message into delayed exchanges. A function of its own, to keep {@link Routing.#enter} short: few messages are delayed. */
  #holdBack(message: Message, delays: Delays, asked: Journal | undefined, now: number): Outcome {
    let outcome = Outcome.Unroutable;
    for (const delayed of delays) {
      const isTaken = asked?.refuses(delayed, message) !== true;
      if (isTaken) delayed.take(message, now);
      outcome |= isTaken ? Outcome.Routed : Outcome.Routed | Outcome.Refused;
    }
    return outcome;
  }

  /**
   * A dead letter goes to a direct reply address (rule G9).
   * @returns false when its body cannot be read now: it stays where it was, and is routed again later
   */
  #deliverReply(message: Message, letter: PendingLetter, now: number): boolean {
    const { replies, timers, dead, counters } = this.#home;
    try {
      replies.deliver(message);
    } catch (error) {
      if (!isLost(error)) {
        timers.set(new Timer(() => dead.push(letter)), now + replyRetryAfter);
        return false;
      }
      counters.lost++;
    }
    return true;
  }

  /** Asks one exchange, once for each key of the message. */
  #ask({ router }: Exchange, message: Message): void {
    const found = this.#found;
    found.clear();
    router.route(message, message.routingKey, found);
    const copies = message.carbonCopies;
    if (copies === undefined || router.ignoresKeys === true) return;
    for (const key of copies.cc) router.route(message, key, found);
    for (const key of copies.bcc) router.route(message, key, found);
  }

  /** Each exchange is visited once, so cycles of bindings or alternates end (rules G5, G6). */
  #queuesBehind(first: Exchange, message: Message): readonly Queue[] {
    const { exchanges } = this.#home;
    this.#queues.clear();
    const visited = new Set([first]);
    for (const exchange of visited) {
      if (exchange.delayed !== undefined && delayOf(message) > 0) {
        this.#delays = [...this.#delays, exchange.delayed];
        continue;
      }
      this.#ask(exchange, message);
      if (this.#found.isEmpty && exchange.alternate !== undefined) {
        const alternate = exchanges.get(exchange.alternate);
        if (alternate !== undefined) visited.add(alternate);
      }
      for (const destination of this.#found.all) {
        if (destination instanceof Exchange) visited.add(destination);
        else this.#queues.add(destination);
      }
    }
    return this.#queues.all;
  }
}
