import type { Backend, BackendDelivery } from '../../../backends/index.js';
import { after, shownText } from '../../../platform/index.js';
import type { Admission, Job, MessageOrder } from '../../core/handler.js';
import type { Settlement } from '../../core/settlement.js';
import type { EventLog } from '../../log/event-log.js';
import { KeyLanes, type Lane, type LaneKey } from './key-lanes.js';
import { type MessageHost, type OrderedAttempt, OrderedMessage } from './ordered-message.js';
import type { QueueOrdering } from './time-in-hand.js';

/** How long nothing may be settled while the window is full, until the queue is reported as stalled, in milliseconds. */
const stalledAfter = 10_000;

/** How often a stalled queue is looked at, in milliseconds. */
const lookEvery = 1_000;

/** What is watched. */
interface Watched {
  /** True while the window is full of messages that cannot begin. */
  isBlocked(): boolean;
  stalled(): void;
  recovered(): void;
}

/** Notices that a queue is stalled, and that it goes on. It sets no timer while there is room. */
class StallWatch {
  /** Since when it is blocked and nothing was settled. */
  #since: number | undefined;
  #cancelTimer: (() => void) | undefined;
  #isStalled = false;

  constructor(
    private readonly clock: Backend['clock'],
    private readonly watched: Watched,
  ) {}

  /** Something has changed. @param isProgress a message was settled */
  note(isProgress: boolean): void {
    if (!this.watched.isBlocked()) this.#since = undefined;
    else if (isProgress || this.#since === undefined) {
      this.#since = this.clock.now();
      if (this.#cancelTimer === undefined) this.#lookIn(stalledAfter);
    }
  }

  close(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#since = undefined;
    this.#isStalled = false;
  }

  #lookIn(delay: number): void {
    this.#cancelTimer = after(this.clock, delay, () => {
      this.#cancelTimer = undefined;
      this.#look();
    });
  }

  #look(): void {
    const isBlocked = this.watched.isBlocked();
    if (this.#isStalled) {
      if (isBlocked) return this.#lookIn(lookEvery);
      this.#isStalled = false;
      return this.watched.recovered();
    }
    if (this.#since === undefined) return;
    const left = this.#since + stalledAfter - this.clock.now();
    if (left > 0) return this.#lookIn(left);
    this.#isStalled = true;
    this.#lookIn(lookEvery);
    this.watched.stalled();
  }
}

/** The most characters of a key in the log. */
const longestKey = 255;

/** The messages of a queue that its handlers get in order: one at a time within a key. */
export class OrderedQueue implements MessageOrder, MessageHost {
  readonly #lanes: KeyLanes<OrderedMessage>;
  readonly #watch: StallWatch;
  /** What ends the waits, by message. */
  readonly #waits = new Map<OrderedMessage, () => void>();
  #hasCut = false;
  #admission: Admission = 'all';
  #stalled: { readonly delivery: Pick<BackendDelivery, 'queue' | 'message'>; readonly key: LaneKey } | undefined;

  constructor(
    readonly queue: string,
    private ordering: QueueOrdering,
    { clock }: Pick<Backend, 'clock'>,
    private readonly settlement: Settlement,
    private readonly log: EventLog,
  ) {
    this.#lanes = new KeyLanes(ordering.atWork);
    this.#watch = new StallWatch(clock, {
      isBlocked: () => this.#lanes.inHand >= this.window && this.#lanes.ready === 0 && !this.#lanes.isStopped,
      stalled: () => this.#logStalled(),
      recovered: () => this.#logRecovered(),
    });
  }

  get handler(): string {
    return this.ordering.handler;
  }

  get window(): number {
    return this.ordering.window;
  }

  get lanes(): number {
    return this.#lanes.count;
  }

  get held(): number {
    return this.#lanes.held;
  }

  get inHand(): number {
    return this.#lanes.inHand;
  }

  get atWork(): number {
    return this.#lanes.atWork;
  }

  /** Messages that nothing is done with until time passes or a message comes: 0 while a handler is or could be at work. */
  get waiting(): number {
    const { atWork, ready, isStopped, inHand } = this.#lanes;
    return atWork > 0 || (ready > 0 && !isStopped) ? 0 : inHand;
  }

  update(ordering: QueueOrdering): void {
    this.ordering = ordering;
    this.#limit();
    this.#lanes.start();
  }

  /** Starts all messages that may begin, one at a time, or none, as the gate of the queue says. What is at work goes on. */
  admit(admission: Admission): void {
    if (admission === this.#admission) return;
    this.#admission = admission;
    this.#limit();
    if (admission === 'none') this.stop();
    else this.resume();
  }

  #limit(): void {
    this.#lanes.limit = this.#admission === 'one' ? 1 : this.ordering.atWork;
  }

  /** Takes a delivery. It is called in the async context of the message. */
  take(job: Job): void {
    const message = new OrderedMessage(job, this);
    const key = message.key();
    if (message.isGone) return;
    message.lane = this.#lanes.enter(message, key);
    this.#lanes.start();
    this.#watch.note(false);
  }

  /** Starts nothing any more, until {@link resume}. What is at work goes on. */
  stop(): void {
    this.#lanes.stop();
    this.#watch.note(false);
  }

  resume(): void {
    this.#lanes.resume();
    this.#watch.note(false);
  }

  /** Resolves when no handler is at work. */
  idle(): Promise<void> {
    return this.#lanes.idle();
  }

  /** The messages in hand have returned to their queue, or can be settled no more. */
  interrupted(): void {
    for (const lane of this.#lanes.lanes) lane.items.first()?.interrupted();
    this.#sweep();
  }

  /** The consumer has ended: what is not at work returns to the queue, as far as there is one. */
  end(): void {
    this.interrupted();
    for (const lane of this.#lanes.lanes) {
      const working = lane.state === 'at work' ? lane.items.first() : undefined;
      lane.items.each((message) => {
        if (message !== working) message.job.delivery.giveBack();
      });
    }
    this.#sweep();
  }

  /** Nothing is handled any more. */
  close(): void {
    this.#lanes.stop();
    this.#watch.close();
    for (const cancel of this.#waits.values()) cancel();
    this.#waits.clear();
  }

  waitOf(delay: number, { job }: OrderedMessage): number {
    const { holdAtMost } = this.ordering;
    if (delay <= holdAtMost) return delay;
    if (!this.#hasCut) {
      this.#hasCut = true;
      const { origin } = job.planned.handler;
      const text =
        `@Ordered on ${origin}: a wait of ${delay} ms is cut to ${holdAtMost} ms, because the message stays in hand; ` +
        'raise holdAtMost for longer ones. Further waits are cut without a warning';
      this.log.write('waitCut', text, { handler: origin, delay: holdAtMost });
    }
    return holdAtMost;
  }

  moved(message: OrderedMessage, key: LaneKey): void {
    this.#lanes.leave(message.lane);
    message.lane = this.#lanes.enter(message, key);
    this.#lanes.start();
    this.#watch.note(false);
  }

  begins(job: Job, { delivery, context }: OrderedAttempt, payload: unknown, ended: () => void): void {
    const { planned, own } = job;
    if (job.exhausted(delivery, context)) return ended();
    // The gate calls these later, when nothing else would rescue the message.
    const later = (call: () => void): void => {
      try {
        call();
      } catch (fault) {
        this.settlement.rescue({ delivery, planned }, fault);
        ended();
      }
    };
    const hold = (): void =>
      later(() => {
        this.settlement.wait(delivery, planned);
        ended();
      });
    const begin = (): void => job.run(delivery, context, payload, ended);
    const admitted = (): void => later(() => own.runInAsyncScope(begin));
    // Another queue with the same gate may have a message under trial.
    if (planned.gate?.admits({ run: admitted, hold, giveBack: hold, leave: hold }) !== false) begin();
  }

  left(message: OrderedMessage): void {
    this.#lanes.leave(message.lane);
    this.#watch.note(true);
  }

  waits(message: OrderedMessage, delay: number): void {
    const { lane } = message;
    this.#lanes.hold(lane);
    if (message.isGone) this.#lanes.wake(lane);
    else if (delay === 0) this.#lanes.wake(lane);
    else this.#waits.set(message, this.#after(delay, message));
    this.#watch.note(false);
  }

  broken({ job }: OrderedMessage, delivery: BackendDelivery, fault: unknown): void {
    this.settlement.rescue({ delivery, planned: job.planned }, fault);
  }

  #after(delay: number, message: OrderedMessage): () => void {
    const isOver = (): boolean => message.isGone;
    return this.settlement.timers.after(delay, isOver, () => {
      this.#waits.delete(message);
      this.#lanes.wake(message.lane);
      this.#watch.note(false);
    });
  }

  #sweep(): void {
    for (const [message, cancel] of this.#waits) {
      if (!message.isGone) continue;
      cancel();
      this.#waits.delete(message);
    }
    this.#lanes.sweep();
    this.#watch.note(false);
  }

  #logStalled(): void {
    const lane = this.#longest();
    const first = lane?.items.first();
    if (lane === undefined || first === undefined) return;
    const { queue, message } = { queue: this.queue, message: first.message };
    this.#stalled = { delivery: { queue, message }, key: lane.key };
    const key = lane.key === undefined ? 'messages without a key' : `key '${shownText(lane.key, longestKey)}'`;
    const text =
      `queue '${shownText(queue)}' is stalled: its window of ${this.window} messages is full, and all of them wait, ` +
      `${lane.items.length} for ${key}; no other key goes on until one of them is settled. Raise window of @Ordered, or see why it is held up`;
    this.log.write('stalled', text, this.#facts());
    const about = { handler: this.handler, ...(lane.key !== undefined && { key: lane.key }) };
    this.settlement.events.emit('stalled', { queue, message }, about);
  }

  #logRecovered(): void {
    const stalled = this.#stalled;
    if (stalled === undefined) return;
    this.#stalled = undefined;
    this.log.write('recovered', `queue '${shownText(this.queue)}' goes on`, this.#facts());
    const about = { handler: this.handler, ...(stalled.key !== undefined && { key: stalled.key }) };
    this.settlement.events.emit('recovered', stalled.delivery, about);
  }

  #facts(): { readonly queue: string; readonly handler: string } {
    return { queue: shownText(this.queue), handler: this.handler };
  }

  /** The lane with the most messages. */
  #longest(): Lane<OrderedMessage> | undefined {
    let longest: Lane<OrderedMessage> | undefined;
    for (const lane of this.#lanes.lanes) {
      if (longest === undefined || lane.items.length > longest.items.length) longest = lane;
    }
    return longest;
  }
}
