import type { Clock, Entry, Queue, VirtualHost } from '../../../engine/broker/index.js';
import { textAt } from '../../../engine/message/index.js';
import { Batches, Pacing, Redrive, RedriveCounts, WindowBreaker } from '../../redrive/index.js';
import { UnreadableBodies } from '../message-json.js';
import { GroupRedrive, Picked } from './group-redrive.js';
import { groupsOf, type RedriveOrder } from './redrive-order.js';
import { redrivenHeaders } from './mover.js';

/** The largest number of watched queues. */
const mostQueues = 50;
/** The most messages of one queue that are examined in one step. */
const mostAtOnce = 1_000;

/** Counts the messages of a redrive that come back: they arrive in the queues of their dead letters. */
class ReturnWatch {
  /** The last position in each queue that was read. */
  readonly #seen = new Map<Queue, number>();

  constructor(readonly task: string) {}

  /** Watches a queue. Messages that it has already are not counted. */
  add(queue: Queue): void {
    if (!this.#seen.has(queue) && this.#seen.size < mostQueues) this.#seen.set(queue, queue.lastPosition);
  }

  /** @returns the number of messages that came back since the last call */
  count(): number {
    let returned = 0;
    for (const [queue, seen] of this.#seen) {
      const upTo = Math.min(queue.lastPosition, seen + mostAtOnce);
      for (let position = seen + 1; position <= upTo; position++) {
        const headers = queue.find(position)?.message.own.headers;
        if (textAt(headers, redrivenHeaders.task) === this.task) returned++;
      }
      this.#seen.set(queue, upTo);
    }
    return returned;
  }
}

/** True for a queue whose messages expire into another queue: a message there is being retried and has not come back. */
const isWaitQueue = ({ settings }: Queue): boolean =>
  settings.messageTtl !== undefined && settings.deadLetterExchange !== undefined;

/** The parts that a redrive gets from its host. */
export interface RedriveParts {
  readonly clock: Clock;
  /** Called at the end, and when its breaker stops the redrive. */
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
const burstTime = 100;

/** The most moved messages that the journal has not stored. They are objects, and their number decides how long collections of garbage take. */
const mostUnstored = 4_096;

/** The most messages examined and moved in one turn of the event loop, and its most milliseconds. */
const inOneGo = { scanned: 4_096, moved: 512, milliseconds: 4 };

/**
 * The redrive of the HTTP API: moves messages from a queue, or from several, to their origins or to another address, in turns. Its
 * memory does not grow with the number of messages.
 */
export class QueueRedrive extends Redrive {
  /** The groups of messages, one after the other. */
  readonly groups: readonly GroupRedrive[];
  /** The number of the present group. */
  #at = 0;
  /** The number of moved messages that the journal has not stored yet. */
  #unstored = 0;
  /** True while the redrive waits for the journal only. */
  #isWaiting = false;
  readonly #unread = new UnreadableBodies();
  readonly #watch: ReturnWatch;
  readonly #parts: RedriveParts;

  constructor(
    readonly id: string,
    readonly order: RedriveOrder,
    parts: RedriveParts,
  ) {
    const { clock } = parts;
    const { dryRun, rate } = order;
    const breaker = dryRun ? undefined : order.circuit;
    super({
      clock,
      pacing: new Pacing(dryRun ? Infinity : rate, clock.now(), burstTime),
      counts: new RedriveCounts(),
      breaker: breaker && new WindowBreaker(breaker),
      batches: breaker && Batches.for(rate, breaker.atLeast),
      pollInterval,
    });
    this.#parts = parts;
    const groups = groupsOf(order);
    const common = { order, task: id, settled: this.#settled, unread: this.#unread, now: () => clock.now() };
    // All groups begin now, so messages that arrive later, or come back from an earlier group, are in none of them.
    this.groups = groups.map((group, index) => {
      const counts = groups.length === 1 ? this.counts : new RedriveCounts();
      return new GroupRedrive(group, common, groups.slice(0, index), counts);
    });
    this.#watch = new ReturnWatch(id);
    for (const { queue } of groups) this.#watch.add(queue);
    clock.wakeAt(this.startedAt, this.#tick);
  }

  /** The number of examined messages. Each group examines its queue. */
  get scanned(): number {
    return this.groups.reduce((sum, { selection }) => sum + selection.scanned, 0);
  }

  /** The number of ready messages at the start, for each group those of its queue. */
  get readyAtStart(): number {
    return this.groups.reduce((sum, { readyAtStart }) => sum + readyAtStart, 0);
  }

  /** Whether it takes messages out of a queue. */
  isOf(queue: Queue): boolean {
    return this.groups.some(({ group }) => group.queue === queue);
  }

  /** Whether all its groups are in these virtual hosts. */
  isWithin(vhosts: readonly VirtualHost[]): boolean {
    return this.groups.every(({ group }) => vhosts.includes(group.vhost));
  }

  get #group(): GroupRedrive {
    return this.groups[this.#at] as GroupRedrive;
  }

  protected override changed(): void {
    const { clock, ended } = this.#parts;
    clock.wakeAt(this.state === 'running' ? clock.now() : undefined, this.#tick);
    if (this.isOver) this.#countGone();
    if (this.isOver || this.state === 'waiting') ended?.(this);
  }

  protected override countReturned(seen: (count: number) => void): void {
    try {
      seen(this.#watch.count());
    } catch (error) {
      this.#parts.log?.(error);
    }
  }

  #countGone(): void {
    for (const { selection, counts } of this.groups) {
      if (!(selection instanceof Picked)) continue;
      counts.gone += selection.missing;
      if (counts !== this.counts) this.counts.gone += selection.missing;
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
    const fault = this.#group.mover.fault();
    if (fault !== undefined) return void this.end('failed', fault);
    const { breaker, pacing, batches } = this.rules;
    if (breaker !== undefined) this.returned(this.#watch.count());
    if (this.state !== 'running') return;
    this.#group.group.vhost.scheduler.batch(() => this.#move(now));
    if (this.#group.isDone && this.#at < this.groups.length - 1) this.#at++;
    if (this.#isFinished) return this.#finish();
    const isAtOnce = pacing.rate === Infinity && this.#unstored < mostUnstored;
    const due = isAtOnce ? now : Math.max(now + shortestTick, pacing.next);
    this.#parts.clock.wakeAt(Math.max(due, batches?.next ?? now), this.#tick);
  }

  /** Moves one batch of the present group, with one commit of the journal. */
  #move(now: number): void {
    const { selection, missing } = this.#group;
    let left = Math.min(this.allowed(now), inOneGo.moved, mostUnstored - this.#unstored, this.#missing, missing);
    let looks = inOneGo.scanned;
    while (left > 0 && looks > 0 && !selection.isDone) {
      const before = selection.scanned;
      const entries = selection.next(Math.min(looks, 256), Math.min(left, 16));
      looks -= Math.max(1, selection.scanned - before);
      for (const entry of entries) this.#one(entry, now);
      this.rules.pacing.spend(entries.length);
      left -= entries.length;
      if (this.#parts.clock.now() - now >= inOneGo.milliseconds) break;
    }
  }

  #one(entry: Entry, now: number): void {
    if (!this.order.dryRun) this.#unstored++;
    const { mover } = this.#group;
    const queues = this.#counted(() => mover.move(entry, now));
    if (this.order.dryRun) return;
    if (queues === undefined) return void this.#unstored--;
    this.redriven(now);
    if (this.rules.breaker === undefined) return;
    for (const dead of mover.deadLetterQueuesOf(entry.message, queues)) if (!isWaitQueue(dead)) this.#watch.add(dead);
  }

  /** Adds to the counts of the redrive what a step added to those of its group. */
  #counted<T>(step: () => T): T {
    const { counts } = this.#group;
    const { moved, left, gone, unproven } = counts;
    const result = step();
    if (counts === this.counts) return result;
    this.counts.moved += counts.moved - moved;
    this.counts.left += counts.left - left;
    this.counts.gone += counts.gone - gone;
    this.counts.unproven += counts.unproven - unproven;
    return result;
  }

  get #missing(): number {
    return (this.order.limit ?? Infinity) - this.counts.moved;
  }

  get #isFinished(): boolean {
    return (this.#group.isDone && this.#at === this.groups.length - 1) || this.#missing <= 0;
  }

  readonly #settled = (failure?: Error): void => {
    this.#unstored--;
    if (failure !== undefined) return void this.end('failed', failure.message);
    if (this.#isWaiting && this.state === 'running') this.#finish();
  };

  /** Completes the redrive when the journal has stored every moved message. */
  #finish(): void {
    this.#isWaiting = this.#unstored > 0;
    if (!this.#isWaiting) this.end('done', this.#left);
  }

  /** Says how many messages stayed because their bodies could not be read for the filter. */
  get #left(): string | undefined {
    const { count, reason } = this.#unread;
    return count === 0 ? undefined : `${count} messages could not be looked at, and stay: ${reason}`;
  }
}
