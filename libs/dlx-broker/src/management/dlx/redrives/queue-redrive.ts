import type { Clock, Entry } from '../../../broker/index.js';
import { Batches, Pacing, Redrive, RedriveCounts, WindowCircuit } from '../../../redrive/index.js';
import { matcherOf } from '../filter.js';
import { Unread } from '../payload.js';
import { Mover } from './mover.js';
import type { RedriveOrder } from './redrive-order.js';
import { isWaitingRoom, ReturnWatch } from './return-watch.js';
import { Filtered, Picked, type Selection } from './selection.js';

/** The parts that a redrive gets from its host. */
export interface RedriveParts {
  readonly clock: Clock;
  /** Called at the end, and when the circuit stops the redrive. */
  readonly ended?: (task: QueueRedrive) => void;
  /** Called with internal errors. */
  readonly log?: ((error: unknown) => void) | undefined;
}

/** How often the redrive counts returned messages after its end, in milliseconds. */
const pollInterval = 250;

/** The least milliseconds between two turns. Messages that become due in between go together. */
const shortestTick = 10;

/**
 * After a delay of the host, the messages of this many milliseconds follow together; the rest of the delay is not made
 * up for.
 */
const keptTime = 100;

/** The most messages examined and moved in one turn of the event loop, and its most milliseconds. */
const inOneGo = { scanned: 4_096, moved: 512, milliseconds: 4 };

/**
 * The redrive of the HTTP API: moves messages from a queue to their origins or to another address, in turns. Its memory
 * does not grow with the number of messages.
 */
export class QueueRedrive extends Redrive {
  /** The number of ready messages at the start. */
  readonly readyAtStart: number;
  /** The number of moved messages that the journal has not stored yet. */
  #unsafe = 0;
  /** True while the redrive waits for the journal only. */
  #isWaiting = false;
  readonly #selection: Selection;
  readonly #unread = new Unread();
  readonly #mover: Mover;
  readonly #watch: ReturnWatch;
  readonly #parts: RedriveParts;

  constructor(
    readonly id: string,
    readonly order: RedriveOrder,
    parts: RedriveParts,
  ) {
    const { clock } = parts;
    const { queue, filter = {}, ids, dryRun, rate } = order;
    const circuit = dryRun ? undefined : order.circuit;
    super({
      clock,
      pacing: new Pacing(dryRun ? Infinity : rate, clock.now(), keptTime),
      counts: new RedriveCounts(),
      circuit: circuit && new WindowCircuit(circuit),
      batches: circuit && Batches.for(rate, circuit.atLeast),
      pollInterval,
    });
    this.#parts = parts;
    this.readyAtStart = queue.length;
    this.#selection = ids
      ? new Picked(queue, ids)
      : new Filtered(queue, matcherOf(filter, this.#unread), () => clock.now());
    this.#mover = new Mover(order, id, this.counts, this.#settled);
    this.#watch = new ReturnWatch(id);
    this.#watch.add(queue);
    clock.wakeAt(this.startedAt, this.#tick);
  }

  get scanned(): number {
    return this.#selection.scanned;
  }

  protected override changed(): void {
    const { clock, ended } = this.#parts;
    clock.wakeAt(this.state === 'running' ? clock.now() : undefined, this.#tick);
    if (this.isOver && this.#selection instanceof Picked) this.counts.gone += this.#selection.missing;
    if (this.isOver || this.state === 'tripped') ended?.(this);
  }

  protected override countReturned(seen: (count: number) => void): void {
    try {
      seen(this.#watch.count());
    } catch (error) {
      this.#parts.log?.(error);
    }
  }

  readonly #tick = (): void => {
    if (this.state !== 'running') return;
    try {
      this.#work(this.#parts.clock.now());
    } catch (error) {
      this.#parts.log?.(error);
      this.end('failed', 'an internal error');
    }
  };

  #work(now: number): void {
    const fault = this.#mover.fault();
    if (fault !== undefined) return void this.end('failed', fault);
    const { circuit, pacing, batches } = this.rules;
    if (circuit !== undefined) this.cameBack(this.#watch.count());
    if (this.state !== 'running') return;
    this.order.vhost.scheduler.batch(() => this.#move(now));
    if (this.#isFinished) return this.#finish();
    const due = pacing.rate === Infinity ? now : Math.max(now + shortestTick, pacing.next);
    this.#parts.clock.wakeAt(Math.max(due, batches?.next ?? now), this.#tick);
  }

  /** Moves one batch, with one commit of the journal. */
  #move(now: number): void {
    let left = Math.min(this.allowed(now), inOneGo.moved, this.#missing);
    let looks = inOneGo.scanned;
    while (left > 0 && looks > 0 && !this.#selection.isDone) {
      const before = this.#selection.scanned;
      const entries = this.#selection.next(Math.min(looks, 256), Math.min(left, 16));
      looks -= Math.max(1, this.#selection.scanned - before);
      for (const entry of entries) this.#one(entry, now);
      this.rules.pacing.spend(entries.length);
      left -= entries.length;
      if (this.#parts.clock.now() - now >= inOneGo.milliseconds) break;
    }
  }

  #one(entry: Entry, now: number): void {
    if (!this.order.dryRun) this.#unsafe++;
    const queues = this.#mover.move(entry, now);
    if (this.order.dryRun) return;
    if (queues === undefined) return void this.#unsafe--;
    this.redriven(now);
    if (this.rules.circuit === undefined) return;
    for (const dead of this.#mover.afterlives(entry.message, queues)) if (!isWaitingRoom(dead)) this.#watch.add(dead);
  }

  get #missing(): number {
    return (this.order.limit ?? Infinity) - this.counts.moved - this.counts.left;
  }

  get #isFinished(): boolean {
    return this.#selection.isDone || this.#missing <= 0;
  }

  readonly #settled = (failure?: Error): void => {
    this.#unsafe--;
    if (failure !== undefined) return void this.end('failed', failure.message);
    if (this.#isWaiting && this.state === 'running') this.#finish();
  };

  /** Completes the redrive when the journal has stored every moved message. */
  #finish(): void {
    this.#isWaiting = this.#unsafe > 0;
    if (!this.#isWaiting) this.end('completed', this.#left);
  }

  /** Says how many messages stayed because their bodies could not be read for the filter. */
  get #left(): string | undefined {
    const { count, reason } = this.#unread;
    return count === 0 ? undefined : `${count} messages could not be looked at, and stay: ${reason}`;
  }
}
