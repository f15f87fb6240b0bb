import type { BackendError } from '../../libs/dlx-broker/src/backends/index.js';
import { placeOf, type Task } from './plan.js';
import { queues } from './topology.js';
import type { World } from './world.js';

/** A message that was delivered or put on the wire: which one, where, and in which attempt. */
export interface Seen {
  readonly id: string;
  readonly queue: string;
  readonly attempt: number;
}

/** What is known of one message. */
interface Account {
  readonly task: Task;
  /** When the application published it; undefined before. */
  publishedAt: number | undefined;
  /** `lost`: its replica was killed before it learned the outcome. */
  outcome: 'pending' | 'taken' | 'lost' | BackendError;
  /** The callback `dropped` was called. */
  wasDropped: boolean;
  /** A handler that does not fail has acked it. */
  isHandled: boolean;
}

const keyOf = ({ id, queue, attempt }: Seen): string => `${id} ${queue} ${attempt}`;

/** Milliseconds after the last fault within which connections may still be lost, because an end notices it late. */
const aftermath = 120_000;

/**
 * Accounts for every message: what the application learned of it, how often it was put on the wire, and every delivery. It knows what
 * RabbitMQ promises: a confirmed message is not lost, a returned one is not confirmed, and only a lost connection makes duplicates.
 */
export class Oracle {
  readonly accounts = new Map<string, Account>();
  /** When the last fault ended that may end a connection, in milliseconds of the world. */
  lastFault = -Infinity;
  /**
   * Kills of the server. After each, the disk may not know of a delivery, nor of a dead letter that was delivered already: a
   * message that waited may be new once more.
   */
  kills = 0;
  /** Something else than a stop in order may have ended a connection, or a stop waited in vain for confirms. */
  isDisturbed = false;
  /** Requeues of the application. */
  requeues = 0;
  deliveries = 0;
  duplicates = 0;
  readonly #sends = new Map<string, number>();
  readonly #arrivals = new Map<string, number>();
  /** Deliveries that were acked, or have a successor that the broker confirmed. */
  readonly #settled = new Set<string>();
  /** Successors of which the application learned that the broker has them. */
  readonly #promised = new Map<string, Seen>();

  constructor(
    private readonly world: World,
    tasks: readonly Task[],
  ) {
    for (const task of tasks) {
      this.accounts.set(task.id, {
        task,
        publishedAt: undefined,
        outcome: 'pending',
        wasDropped: false,
        isHandled: false,
      });
    }
  }

  /** True if no connection can have been lost for a while. */
  get isQuiet(): boolean {
    return this.world.time - this.lastFault > aftermath;
  }

  task(id: string): Task | undefined {
    return this.accounts.get(id)?.task;
  }

  /** The application publishes it. */
  publishing({ id }: Task): void {
    this.#account(id).publishedAt = this.world.time;
    this.world.note(`publish ${id}`);
  }

  /** The outcome of a publish. */
  published(task: Task, failure: Error | undefined): void {
    const account = this.#account(task.id);
    this.world.note(`published ${task.id} ${failure === undefined ? 'taken' : failure.message}`);
    if (account.outcome !== 'pending') return this.world.violated(`${task.id} has two outcomes`);
    account.outcome = failure === undefined ? 'taken' : (failure as BackendError);
    const wrong = failure === undefined ? wrongSuccess(account) : wrongFailure(task, failure);
    if (wrong !== undefined) this.world.violated(`${task.kind} ${task.id} ${wrong}`);
  }

  dropped({ id }: Task): void {
    this.#account(id).wasDropped = true;
  }

  /** The replica that published these was killed. */
  lost(ids: Iterable<string>): void {
    for (const id of ids) {
      const account = this.#account(id);
      if (account.outcome === 'pending' && account.publishedAt !== undefined) account.outcome = 'lost';
    }
  }

  /** A message was put on the wire. */
  sent(seen: Seen): void {
    add(this.#sends, keyOf(seen));
  }

  /** A consumer got a message. */
  delivered(seen: Seen, redelivered: boolean): void {
    const { id, queue } = seen;
    this.deliveries++;
    this.world.note(`delivered ${keyOf(seen)}${redelivered ? ' again' : ''}`);
    const account = this.accounts.get(id);
    if (account === undefined) return this.world.violated(`queue ${queue} has ${id}, which was never published`);
    const { task, publishedAt, outcome } = account;
    if (publishedAt === undefined) return this.world.violated(`${id} was delivered before it was published`);
    if (placeOf(task) === 'nowhere') this.world.violated(`${task.kind} ${id} was delivered from ${queue}`);
    if (outcome instanceof Error && !outcome.mayBeTaken)
      this.world.violated(`${id} was delivered, but ${outcome.name} said it was not taken`);
    if (task.kind === 'delayed' && this.world.time < publishedAt + task.delay)
      this.world.violated(`${id} came ${publishedAt + task.delay - this.world.time} ms early`);
    if (redelivered) return this.#again(seen);
    const arrivals = add(this.#arrivals, keyOf(seen));
    const sends = this.#sends.get(keyOf(seen)) ?? 0;
    if (arrivals > sends * (1 + this.kills))
      this.world.violated(`${keyOf(seen)} was sent ${sends} times, and delivered ${arrivals} times as new`);
    if (arrivals > 1) this.duplicates++;
  }

  handled({ id }: Task, delivered: Seen): void {
    this.world.note(`handled ${id}`);
    this.#settled.add(keyOf(delivered));
    this.#account(id).isHandled = true;
  }

  /** The broker has confirmed a successor of a delivery. */
  promised(seen: Seen, delivered: Seen): void {
    this.#settled.add(keyOf(delivered));
    this.world.note(`promised ${keyOf(seen)}`);
    this.#promised.set(keyOf(seen), seen);
  }

  /** @param contents the messages that are in queues when everything is over: in `dead` and in the parking lot */
  atTheEnd(contents: readonly Seen[]): void {
    const has = (id: string, queue: string): boolean => contents.some((each) => each.id === id && each.queue === queue);
    for (const { task, outcome, publishedAt, isHandled } of this.accounts.values()) {
      const { id } = task;
      const place = placeOf(task);
      if (publishedAt === undefined) continue;
      if (outcome === 'pending') this.world.violated(`the publish of ${id} has no outcome`);
      if (outcome !== 'taken' || place === 'nowhere') continue;
      if (place === 'handled' && !isHandled) this.world.violated(`${id} was confirmed, and no handler has finished it`);
      const queue = place === 'parked' ? queues.parked : queues.dead;
      if (place !== 'handled' && !has(id, queue)) this.world.violated(`${id} was confirmed, and is not in ${queue}`);
    }
    for (const seen of contents) this.#found(seen);
    for (const [key, seen] of this.#promised) {
      if (this.#arrivals.has(key) || has(seen.id, seen.queue)) continue;
      this.world.violated(`the broker confirmed ${key}, and it never came`);
    }
  }

  #found({ id, queue }: Seen): void {
    const account = this.accounts.get(id);
    if (account === undefined) return this.world.violated(`queue ${queue} has ${id}, which was never published`);
    const { task, outcome } = account;
    const place = placeOf(task) === 'parked' ? queues.parked : placeOf(task) === 'dead' ? queues.dead : 'nowhere';
    if (place !== queue) this.world.violated(`${id} is in ${queue}, and belongs to ${place}`);
    if (outcome instanceof Error && !outcome.mayBeTaken)
      this.world.violated(`${id} is in ${queue}, but ${outcome.name} said it was not taken`);
  }

  #again(seen: Seen): void {
    add(this.#arrivals, keyOf(seen), 0);
    if (!this.isDisturbed && this.#settled.has(keyOf(seen)) && this.#sends.get(keyOf(seen)) === 1)
      this.world.violated(`${keyOf(seen)} was settled, and delivered again after a stop in order`);
    if (this.isQuiet && this.requeues === 0)
      this.world.violated(`${keyOf(seen)} was delivered again, and no connection was lost`);
  }

  #account(id: string): Account {
    return this.accounts.get(id) as Account;
  }
}

function add(counts: Map<string, number>, key: string, more = 1): number {
  const count = (counts.get(key) ?? 0) + more;
  counts.set(key, count);
  return count;
}

function wrongSuccess({ task: { kind }, wasDropped }: Account): string | undefined {
  if (kind === 'unroutable' || kind === 'missing') return 'counts as taken, and no queue has it';
  return kind === 'dropped' && !wasDropped ? 'counts as taken, and was not reported as dropped' : undefined;
}

/** What can never be the outcome of this message, whatever happens to connections and servers. */
function wrongFailure({ kind }: Task, { name, message }: Error): string | undefined {
  const isWrong =
    (name === 'UnroutableError' && kind !== 'unroutable') ||
    (name === 'ServerError' && kind !== 'missing') ||
    (name === 'RefusedError' && kind !== 'small') ||
    ![
      'UnroutableError',
      'ServerError',
      'RefusedError',
      'OverloadedError',
      'UnconfirmedError',
      'ConnectionLostError',
    ].includes(name);
  return isWrong ? `failed with ${name}: ${message}` : undefined;
}
