import type { AsyncResource } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { type Backend, ConnectionLostError } from '../../backends/index.js';
import { after, shownText } from '../../platform/index.js';
import type { StuckHandler } from '../health/answer.js';
import type { EventLog } from '../log/event-log.js';
import { limitOf } from './consumer-timeout.js';
import { HandlerTimeoutError } from './failure.js';
import type { Handling } from './handler.js';

/** An attempt that is under way, with its neighbours. They are in the order in which they began. */
export interface WatchedAttempt extends Handling {
  /** The async context of the message. */
  readonly own: AsyncResource;
  begunAt: number;
  /** True once it was stuck at a look. */
  isKnown: boolean;
  older: WatchedAttempt | undefined;
  younger: WatchedAttempt | undefined;
}

/** Attempts of a handler whose message the server took back. Equal messages without an id stand for each other. */
interface TakenBack {
  count: number;
  error: HandlerTimeoutError;
  /** How long the message is waited for: milliseconds since 1970. */
  until: number;
}

/** The server says so when it closes the channel (rule Q8). */
const timedOut = /delivery acknowledgement .*timed out\. Timeout value used: (\d+) ms/;

/** A delivery reaches the client later than the server begins to count, in milliseconds. */
const slack = 1_000;

/** The shortest time between two looks, in milliseconds. */
const leastPause = 1_000;

/** Messages that are waited for at most. */
const mostTakenBack = 1_000;

/** How often the consumer timeout a message is waited for: other replicas may have it in between. */
const timesWaited = 10;

/**
 * Knows the attempts that are under way: it warns of handlers that hang, and counts attempts whose message the server took back. An
 * attempt costs two links of a list; there is one timer for all.
 */
export class AttemptWatch {
  #oldest: WatchedAttempt | undefined;
  #newest: WatchedAttempt | undefined;
  /** Stops the timer. */
  #cancel: (() => void) | undefined;
  #isClosed = false;
  /** By {@link keyOf}, in the order of their ends. */
  readonly #takenBack = new Map<string, TakenBack>();

  /** @param stuckAfter milliseconds; Infinity for never */
  constructor(
    private readonly backend: Pick<Backend, 'clock' | 'now' | 'consumerTimeout'>,
    private readonly stuckAfter: number,
    private readonly log: EventLog,
  ) {}

  /** @returns the present time, in milliseconds since 1970 */
  begin(attempt: WatchedAttempt): number {
    const { now, clock } = this.backend;
    const begunAt = now === undefined ? clock.now() : now();
    attempt.begunAt = begunAt;
    attempt.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = attempt;
    else this.#newest.younger = attempt;
    this.#newest = attempt;
    if (this.#cancel === undefined) this.#lookIn(this.stuckAfter);
    return begunAt;
  }

  end(attempt: WatchedAttempt): void {
    const { older, younger } = attempt;
    if (older === undefined) this.#oldest = younger;
    else older.younger = younger;
    if (younger === undefined) this.#newest = older;
    else younger.older = older;
    attempt.older = attempt.younger = undefined;
  }

  /** The handlers that are stuck. */
  get stuck(): readonly StuckHandler[] {
    const found = new Map<string, StuckHandler>();
    for (const { planned, begunAt } of this.#stuckAttempts()) {
      const { handler, queue } = planned;
      const { since = new Date(begunAt), messages = 0 } = found.get(handler.origin) ?? {};
      found.set(handler.origin, { handler: handler.origin, queue, messages: messages + 1, since });
    }
    return [...found.values()];
  }

  /**
   * A consumer was interrupted: what its handlers have in hand is in its queue again. Their signals are aborted. If the server took the
   * messages back because they were unacknowledged for too long, their attempts count as failed when the messages come again.
   * @param isCancelled true: the server cancelled the consumer and gave no reason, which is how RabbitMQ 4.3 takes back what is too late
   */
  interrupted(queue: string, failure: Error | undefined, isCancelled: boolean): void {
    const limitNow = limitIn(failure);
    const now = this.backend.clock.now();
    const late = new Map<string, { count: number; readonly limit: number }>();
    const gone: [WatchedAttempt, Error][] = [];
    for (let each = this.#oldest; each !== undefined; each = each.younger) {
      const { delivery, context, planned } = each;
      if (delivery.queue !== queue || context.isSettledByHand || context.isAborted) continue;
      const { origin } = planned.handler;
      const limit = isCancelled ? limitOf(planned, this.backend.consumerTimeout) : limitNow;
      const isLate = now - each.begunAt + slack >= limit;
      if (isCancelled && isLate) delivery.giveBack();
      if (!delivery.settled) continue;
      if (isLate) {
        const error = new HandlerTimeoutError(origin, limit, ', the consumer timeout of the server');
        late.set(origin, { count: (late.get(origin)?.count ?? 0) + 1, limit });
        this.#remember(keyOf(each), error, now + timesWaited * limit);
        gone.push([each, error]);
      } else {
        const text = `the messages of queue '${shownText(queue)}' have returned to it: another consumer may get them`;
        gone.push([each, new ConnectionLostError(text, true, { cause: failure })]);
      }
    }
    for (const [handler, { count, limit }] of late) this.#logLate(handler, queue, count, limit);
    // Afterwards, because a listener may end its attempt at once.
    for (const [{ context, own }, reason] of gone) own.runInAsyncScope(() => context.abort(reason));
  }

  /** Why a message that was delivered again is not handled: its attempt before took too long. Asked once for each. */
  takenBack(handling: Handling): HandlerTimeoutError | undefined {
    if (this.#takenBack.size === 0 || !handling.delivery.redelivered) return undefined;
    const key = keyOf(handling);
    const found = this.#takenBack.get(key);
    if (found === undefined) return undefined;
    if (--found.count === 0) this.#takenBack.delete(key);
    return found.until < this.backend.clock.now() ? undefined : found.error;
  }

  #remember(key: string, error: HandlerTimeoutError, until: number): void {
    const count = (this.#takenBack.get(key)?.count ?? 0) + 1;
    this.#takenBack.delete(key);
    this.#takenBack.set(key, { count, error, until });
    if (this.#takenBack.size > mostTakenBack) this.#takenBack.delete(this.#takenBack.keys().next().value as string);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #lookIn(pause: number): void {
    if (pause === Infinity || this.#isClosed) return;
    this.#cancel = after(this.backend.clock, Math.max(pause, leastPause), () => {
      this.#cancel = undefined;
      this.#look();
    });
  }

  /** Attempts that are under way for longer than the option. Those with a time limit end by themselves; a settled message waits for none. */
  *#stuckAttempts(): Iterable<WatchedAttempt> {
    const latest = this.backend.clock.now() - this.stuckAfter;
    for (let each = this.#oldest; each !== undefined && each.begunAt <= latest; each = each.younger) {
      if (each.planned.retry?.timeout === undefined && !each.context.isSettledByHand) yield each;
    }
  }

  /** Warns of handlers that have become stuck. */
  #look(): void {
    const known = new Set<string>();
    for (const each of this.#stuckAttempts()) {
      if (each.isKnown) known.add(each.planned.handler.origin);
      each.isKnown = true;
    }
    for (const each of this.stuck) if (!known.has(each.handler)) this.#logStuck(each);
    const now = this.backend.clock.now();
    let young = this.#oldest;
    while (young !== undefined && young.begunAt + this.stuckAfter <= now) young = young.younger;
    if (young !== undefined) this.#lookIn(young.begunAt + this.stuckAfter - now);
  }

  #logStuck({ handler, queue: name, messages: count }: StuckHandler): void {
    const queue = shownText(name);
    const text =
      `${handler} has been at work on ${messages(count, queue)} for ${this.stuckAfter} ms or longer; if it hangs, give its ` +
      "@Retry a timeout, which ends such attempts; if its work takes so long, raise option 'stuckAfter'";
    this.log.write('handlerStuck', text, { handler, queue, count });
  }

  #logLate(handler: string, name: string, count: number, limit: number): void {
    const queue = shownText(name);
    const text =
      `${handler} was at work on ${messages(count, queue)} for longer than the consumer timeout of the server (${limit} ms), which took ` +
      'the message back; when it comes again, the attempt counts as failed. Give its @Retry a shorter timeout, or raise the consumer ' +
      "timeout: consumerTimeout of embedded(), --consumer-timeout of 'dlx-broker serve', consumer_timeout of RabbitMQ";
    this.log.write('takenBack', text, { handler, queue, count, limit });
  }
}

const messages = (count: number, queue: string): string =>
  `${count === 1 ? 'a message' : `${count} messages`} of queue '${queue}'`;

/** The consumer timeout, in milliseconds, if it ended the consumer; otherwise Infinity. */
function limitIn(failure: Error | undefined): number {
  const [, limit] = timedOut.exec(failure?.message ?? '') ?? [];
  return limit === undefined ? Infinity : Number(limit);
}

/** A handler, a queue and a message. Messages of other clients may have no id: then their bodies are compared. */
function keyOf({ delivery, planned }: Handling): string {
  const { messageId } = delivery.message.own;
  const of = messageId === undefined ? createHash('sha256').update(delivery.message.body).digest('base64') : messageId;
  return JSON.stringify([planned.handler.origin, delivery.queue, messageId !== undefined, of]);
}
