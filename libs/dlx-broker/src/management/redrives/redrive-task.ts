import type { Clock, Entry } from '../../broker/index.js';
import { matcherOf } from '../dlx/filter.js';
import { Unread } from '../dlx/payload.js';
import { Batches } from './batches.js';
import { Circuit } from './circuit.js';
import { Mover } from './mover.js';
import { Pacing } from './pacing.js';
import type { RedriveOrder } from './redrive-order.js';
import { isWaitingRoom, ReturnWatch } from './return-watch.js';
import { Filtered, Picked, type Selection } from './selection.js';
import { Tally } from './tally.js';

/**
 * `tripped`: it stopped itself, for too much of what it redrove came back dead. `failed`: the queue, or the right to it,
 * is gone. Paused and tripped ones can go on; the last three are over.
 */
export type RedriveState = 'running' | 'paused' | 'tripped' | 'completed' | 'stopped' | 'failed';

/** What a redrive is lent. */
export interface RedriveParts {
  readonly clock: Clock;
  /** Called at the end, and when the circuit stops the redrive. */
  readonly ended?: (task: RedriveTask) => void;
  /** Called with internal faults, which would be lost otherwise. */
  readonly log?: ((error: unknown) => void) | undefined;
}

/** After its end it still sees what comes back, in milliseconds: for how long, and how often it looks. */
const afterwards = { watched: 60_000, every: 250 };

/** The most messages examined and moved in one turn of the event loop, and its most milliseconds. */
const inOneGo = { scanned: 4_096, moved: 512, milliseconds: 4 };

/**
 * One redrive: takes messages from a queue back to where they came from, or to another place, at its own pace. It knows
 * an engine and a clock and nothing else. Its memory does not grow with the number of messages.
 */
export class RedriveTask {
  readonly startedAt: number;
  /** Ready messages when it began. */
  readonly readyAtStart: number;
  readonly tally = new Tally();
  #state: RedriveState = 'running';
  #reason: string | undefined;
  #endedAt: number | undefined;
  /** Moved, but not yet kept by the journal. */
  #unsafe = 0;
  /** Only the journal is waited for. */
  #isWaiting = false;
  readonly #selection: Selection;
  readonly #unread = new Unread();
  readonly #mover: Mover;
  readonly #pacing: Pacing;
  readonly #circuit: Circuit | undefined;
  readonly #batches: Batches | undefined;
  readonly #watch: ReturnWatch;
  #watchedUntil: number | undefined;

  readonly #parts: RedriveParts;

  constructor(
    readonly id: string,
    readonly order: RedriveOrder,
    parts: RedriveParts,
  ) {
    this.#parts = parts;
    const { clock } = parts;
    const { queue, filter = {}, ids, dryRun, rate, circuit } = order;
    this.startedAt = clock.now();
    this.readyAtStart = queue.length;
    this.#selection = ids
      ? new Picked(queue, ids)
      : new Filtered(queue, matcherOf(filter, this.#unread), () => clock.now());
    this.#mover = new Mover(order, id, this.tally, this.#settled);
    this.#pacing = new Pacing(dryRun ? Infinity : rate, this.startedAt);
    this.#circuit = circuit === undefined || dryRun ? undefined : new Circuit(circuit);
    this.#batches = this.#circuit && Batches.for(rate, this.#circuit.settings.atLeast);
    this.#watch = new ReturnWatch(id);
    this.#watch.add(queue);
    clock.wakeAt(this.startedAt, this.#tick);
  }

  get state(): RedriveState {
    return this.#state;
  }

  /** Why it is not running, where that is not plain. */
  get reason(): string | undefined {
    return this.#reason;
  }

  get endedAt(): number | undefined {
    return this.#endedAt;
  }

  /**
   * Up to when it sees what comes back: a minute after its end, in milliseconds since 1970. Undefined while it is not over, and
   * without a circuit, when it does not look.
   */
  get watchedUntil(): number | undefined {
    return this.#watchedUntil;
  }

  get scanned(): number {
    return this.#selection.scanned;
  }

  get isOver(): boolean {
    return this.#endedAt !== undefined;
  }

  /** False when it is not running. */
  pause(): boolean {
    if (this.#state !== 'running') return false;
    this.#rest('paused');
    return true;
  }

  /** Goes on after a pause, or after it stopped itself; false when there is nothing to go on with. */
  resume(): boolean {
    if (this.#state !== 'paused' && this.#state !== 'tripped') return false;
    const now = this.#parts.clock.now();
    this.#state = 'running';
    this.#reason = undefined;
    this.#circuit?.close();
    this.#pacing.restart(now);
    this.#batches?.restart(now);
    this.#parts.clock.wakeAt(now, this.#tick);
    return true;
  }

  /** For good; false when it is over already. */
  stop(reason?: string): boolean {
    if (this.isOver) return false;
    this.#end('stopped', reason);
    return true;
  }

  /** For good, and it does not look for what comes back any more. Idempotent. */
  close(reason?: string): void {
    this.stop(reason);
    const now = this.#parts.clock.now();
    if (this.#watchedUntil !== undefined && this.#watchedUntil > now) this.#watchedUntil = now;
    this.#parts.clock.wakeAt(undefined, this.#lookBack);
  }

  readonly #tick = (): void => {
    if (this.#state !== 'running') return;
    try {
      this.#work(this.#parts.clock.now());
    } catch (error) {
      this.#parts.log?.(error);
      this.#end('failed', 'an internal error');
    }
  };

  #work(now: number): void {
    const fault = this.#mover.fault();
    if (fault !== undefined) return this.#end('failed', fault);
    if (this.#isTripped(now)) return;
    this.order.vhost.agenda.batch(() => this.#move(now));
    if (this.#isFinished) this.#finish();
    else this.#parts.clock.wakeAt(Math.max(this.#pacing.next(now), this.#batches?.next ?? now), this.#tick);
  }

  /** One batch: its messages leave together, with one commit of the journal. */
  #move(now: number): void {
    const batch = this.#batches?.allowed(now) ?? Infinity;
    let left = Math.min(this.#pacing.allowed(now), batch, inOneGo.moved, this.#missing);
    let looks = inOneGo.scanned;
    while (left > 0 && looks > 0 && !this.#selection.isDone) {
      const before = this.#selection.scanned;
      const entries = this.#selection.next(Math.min(looks, 256), Math.min(left, 16));
      looks -= Math.max(1, this.#selection.scanned - before);
      for (const entry of entries) this.#one(entry, now);
      this.#pacing.spend(entries.length);
      this.#batches?.spend(entries.length, now);
      left -= entries.length;
      if (this.#parts.clock.now() - now >= inOneGo.milliseconds) break;
    }
  }

  #one(entry: Entry, now: number): void {
    if (!this.order.dryRun) this.#unsafe++;
    const queues = this.#mover.move(entry, now);
    if (this.order.dryRun) return;
    if (queues === undefined) return void this.#unsafe--;
    if (this.#circuit === undefined) return;
    this.#circuit.redriven(now);
    for (const dead of this.#mover.afterlives(entry.message, queues)) if (!isWaitingRoom(dead)) this.#watch.add(dead);
  }

  get #missing(): number {
    return (this.order.limit ?? Infinity) - this.tally.moved - this.tally.left;
  }

  get #isFinished(): boolean {
    return this.#selection.isDone || this.#missing <= 0;
  }

  #isTripped(now: number): boolean {
    const circuit = this.#circuit;
    if (circuit === undefined) return false;
    circuit.cameBack(now, this.#seeReturns());
    if (!circuit.isOpen(now)) return false;
    this.#rest('tripped', `more than ${circuit.settings.percent} % of what was redriven came back dead`);
    this.#parts.ended?.(this);
    return true;
  }

  #seeReturns(): number {
    const back = this.#watch.look();
    this.tally.cameBack += back;
    return back;
  }

  /** What was redriven last fails after the end. */
  readonly #lookBack = (): void => {
    const { clock, log } = this.#parts;
    const until = this.#watchedUntil ?? 0;
    try {
      this.#seeReturns();
      if (clock.now() < until) clock.wakeAt(Math.min(until, clock.now() + afterwards.every), this.#lookBack);
    } catch (error) {
      log?.(error);
    }
  };

  readonly #settled = (failure?: Error): void => {
    this.#unsafe--;
    if (failure !== undefined) return this.isOver ? undefined : this.#end('failed', failure.message);
    if (this.#isWaiting && this.#state === 'running') this.#finish();
  };

  /** It is completed when the journal has all that moved. */
  #finish(): void {
    this.#isWaiting = this.#unsafe > 0;
    if (!this.#isWaiting) this.#end('completed', this.#left);
  }

  /** Messages it could not tell whether they are meant stay where they are. */
  get #left(): string | undefined {
    const { count, reason } = this.#unread;
    return count === 0 ? undefined : `${count} messages could not be looked at, and stay: ${reason}`;
  }

  #rest(state: 'paused' | 'tripped', reason?: string): void {
    this.#state = state;
    this.#reason = reason;
    this.#parts.clock.wakeAt(undefined, this.#tick);
  }

  #end(state: 'completed' | 'stopped' | 'failed', reason?: string): void {
    this.#state = state;
    this.#reason = reason;
    this.#endedAt = this.#parts.clock.now();
    this.#parts.clock.wakeAt(undefined, this.#tick);
    if (this.#circuit !== undefined) {
      this.#watchedUntil = this.#endedAt + afterwards.watched;
      this.#parts.clock.wakeAt(this.#endedAt + afterwards.every, this.#lookBack);
    }
    if (this.#selection instanceof Picked) this.tally.gone += this.#selection.missing;
    this.#parts.ended?.(this);
  }
}
