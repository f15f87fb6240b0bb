import { Deque } from '../deque.js';
import type { Clock, Journal, Pace, Settled } from '../ports.js';
import type { PendingOutputs } from './pending-outputs.js';
import { type Task, TaskQueue } from './task.js';
import { Timers } from './timers.js';

/** Something that the broker sends: a delivery, a return, a confirm. */
export interface Output {
  /** The connection to which it is sent. */
  readonly connection: { readonly pendingOutputs: PendingOutputs };
  send(): void;
}

/** A queue, as the scheduler sees it. */
export interface ScheduledQueue {
  /** True while the queue is on the list. Only the scheduler writes it. */
  isScheduled: boolean;
  /**
   * Drops, expires and delivers what is due.
   * @param limit steps at most
   * @returns steps taken; as many as the limit when there may be more to do
   */
  serve(now: number, limit: number): number;
}

/** A dead letter, as the scheduler sees it. */
export interface ScheduledLetter {
  route(now: number): void;
}

/** A callback that waits for the journal. */
interface Waiter {
  readonly settled: Settled;
  /** The number of dead letters, counted from the start of the broker, that have to be routed first. */
  readonly letters: number;
}

/** The steps of a task that are done immediately, before other work that waits. */
const immediateSteps = 256;

/**
 * The number of dead letters that wait while queues are served. Messages that wait in a queue are bytes; a dead letter is an object.
 * A million messages that expire together are routed in batches of this size, so that the young generation holds all of their objects.
 */
const letterBatch = 1024;

/**
 * The work that is still to be done. A command changes one object and puts further work here: dead letters to be routed, queues to be
 * served, outputs to be sent. It is a list and not a recursion, so a chain of any length needs no stack, and with a pace the host
 * gets its turn in between. Outputs are sent after the command, never inside it.
 */
export class Scheduler {
  readonly timers = new Timers();
  readonly #tasks = new TaskQueue();
  readonly #queues = new Deque<ScheduledQueue>();
  /** Tasks that free memory and records of deleted things. */
  readonly #clearing = new TaskQueue();
  readonly #outputs = new Deque<Output>();
  /** Waiters that are not committed to the journal yet. */
  readonly #uncommitted = new Deque<Waiter>();
  /** Committed waiters whose changes are not durable yet. */
  readonly #unsynced = new Deque<Waiter>();
  #last: Waiter | undefined;
  /** Waiters are numbered. The numbers of the last waiter that was called, and of the last that was committed to the journal. */
  #calledWaiter = 0;
  #committedWaiter = 0;
  /** Dead letters routed so far. */
  #routed = 0;
  #depth = 0;
  #now = 0;
  #sending = false;
  #resuming = false;
  /** True while some due timers have not fired yet. */
  #isFiring = false;
  /** Steps left in this turn of the host, over all of its commands. */
  #steps: number;
  #wakeTime: number | undefined;
  #stopped = false;
  /** {@link hold} was called, and not yet {@link release}. Only the scheduler writes it. */
  isHeld = false;

  constructor(
    readonly clock: Clock,
    readonly pace: Pace | undefined,
    readonly journal: Journal | undefined,
    /** Dead letters that are not routed yet. */
    readonly dead: Deque<ScheduledLetter>,
  ) {
    this.#steps = pace?.budget ?? Infinity;
  }

  /** Begins a command. @returns the time of the command; inside a batch, the time of the batch */
  begin(): number {
    if (this.#depth++ === 0) this.#now = this.clock.now();
    return this.#now;
  }

  /** The time of the command that is being executed, or whose outputs are being sent; otherwise that of the clock. */
  get time(): number {
    return this.#depth > 0 || this.#sending ? this.#now : this.clock.now();
  }

  /**
   * Begins an ack. Inside an output it gets the time of the command that sends the output: a consumer that acks in its callback
   * causes no further reading of the clock.
   */
  beginAck(): number {
    if (this.#depth++ === 0 && !this.#sending) this.#now = this.clock.now();
    return this.#now;
  }

  /** Ends an ack. Its remaining work reads the clock again, because the callback may have taken long. */
  endAck(): void {
    if (this.#sending && this.#depth === 1 && this.#isBusy) this.#now = this.clock.now();
    this.end(this.#now);
  }

  /** Ends a command: does its remaining work, then sends the outputs. */
  end(now: number): void {
    if (this.#isBusy) this.#work(now);
    if (--this.#depth > 0) return;
    if (this.#tasks.hasWaiters) this.#tasks.callWaiters();
    if (this.journal !== undefined) this.#commit(this.journal);
    if (this.timers.next !== this.#wakeTime && !this.#stopped && !this.#isFiring) this.#askClock();
    if (this.#outputs.length > 0 && !this.#sending) this.#send();
  }

  /**
   * Serves the queues on the list.
   * @param limit steps at most
   * @returns steps taken; as many as the limit when there may be more to do
   */
  serveQueues(now: number, limit: number): number {
    let steps = 0;
    while (steps < limit) {
      const taken = this.#serveNext(now, limit - steps);
      if (taken === 0) return steps;
      steps += taken;
    }
    return limit;
  }

  /** Serves the first queue on the list, and puts it back if there may be more to do. @returns steps taken: 0 for an empty list, else at least 1 */
  #serveNext(now: number, limit: number): number {
    const queue = this.#queues.shift();
    if (queue === undefined) return 0;
    queue.isScheduled = false;
    const steps = queue.serve(now, limit);
    if (steps >= limit) this.scheduleQueue(queue);
    return steps > 0 ? steps : 1;
  }

  /** Routes dead letters. @param limit at most this many @returns how many there were */
  routeDeadLetters(now: number, limit: number): number {
    let count = 0;
    while (count < limit && this.#routeNext(now)) count++;
    return count;
  }

  /** Routes the oldest dead letter. @returns false when there is none */
  #routeNext(now: number): boolean {
    const letter = this.dead.shift();
    if (letter === undefined) return false;
    letter.route(now);
    this.#routed++;
    return true;
  }

  /** Inside a command that is about to fail: does its remaining work, and sends the outputs. */
  flush(now: number): void {
    if (this.#isBusy) this.#work(now);
    if (this.#outputs.length > 0 && !this.#sending) this.#send();
  }

  /** Several commands whose outputs leave together. */
  batch(commands: () => void): void {
    const now = this.begin();
    try {
      commands();
    } finally {
      this.end(now);
    }
  }

  /** Puts a queue on the list: it is served when the command is over. */
  scheduleQueue(queue: ScheduledQueue): void {
    if (queue.isScheduled) return;
    queue.isScheduled = true;
    this.#queues.push(queue);
  }

  /** Adds a task. Queues are served when it is done, because messages that return together count together (rules C6, J2). */
  schedule(task: Task): void {
    this.#tasks.add(task);
  }

  /**
   * Runs a task that is usually short. Some steps are done now, even if the steps of this turn are spent, so that its client does not
   * wait for others. The rest is scheduled.
   */
  runOrSchedule(task: Task, now: number): void {
    const limit = Math.min(immediateSteps, this.#steps + (this.pace?.budget ?? Infinity));
    if (limit > 0) {
      const steps = task.work(now, limit);
      this.#steps -= steps;
      this.#requestTurn();
      if (steps < limit) return;
    }
    this.schedule(task);
  }

  /** The number of the last task so far. */
  get lastTask(): number {
    return this.#tasks.last;
  }

  /** Calls `callback` when all tasks up to this one are done: at once when they are, else after the command that ends the last. */
  afterTasks(callback: () => void, upTo = this.lastTask): void {
    this.#tasks.after(upTo, callback);
  }

  /**
   * Adds a task for which no client waits: it frees memory and records of deleted things. With a pace such tasks take at most half of
   * the steps of a turn, so that deliveries go on.
   */
  clearAway(task: Task | undefined): void {
    if (task !== undefined) this.#clearing.add(task);
  }

  /** Calls `callback` when all present tasks of {@link clearAway} are done: at once if there are none. */
  whenCleared(callback: () => void): void {
    this.#clearing.after(this.#clearing.last, callback);
  }

  output(output: Output): void {
    output.connection.pendingOutputs.add();
    this.#outputs.push(output);
  }

  /** The number of changes that the journal has received. */
  get sequence(): number {
    return this.journal?.sequence ?? 0;
  }

  /**
   * Calls `then` when all changes so far, and those of the pending dead letters, are durable, or with the error.
   * @returns the waiter, for {@link joins}
   */
  onDurable(then: Settled): object {
    this.#last = { settled: then, letters: this.#routed + this.dead.length };
    this.#uncommitted.push(this.#last);
    return this.#last;
  }

  /** True if a new waiter would share this waiter's pending commit. */
  joins(waiter: object): boolean {
    const last = this.#last;
    return last === waiter && this.#uncommitted.length > 0 && last.letters === this.#routed + this.dead.length;
  }

  /** Calls `then` like {@link onDurable}, but at once if the journal has received no change since `since`. */
  onStored(since: number, then: Settled): void {
    if (this.sequence === since) then();
    else this.onDurable(then);
  }

  /**
   * Until {@link release}, commands only change their objects: nothing is served, expires, is sent or is committed. So a restore can
   * take several turns of the host, and is still one command.
   */
  hold(): void {
    this.isHeld = true;
    this.#depth++; // no command is the last one
    this.#steps = -Infinity; // and none works or asks for a turn
  }

  /** Ends the one command that began with {@link hold}, at the time of the clock. */
  release(): void {
    if (!this.isHeld) return;
    this.isHeld = false;
    this.#steps = this.pace?.budget ?? Infinity;
    this.#now = this.clock.now();
    this.end(this.#now);
  }

  /** Withdraws the request to the clock, and finishes commands that run in turns, because there may be no further turn. */
  stop(): void {
    this.#stopped = true;
    this.clock.wakeAt(undefined, this.tick);
    if (this.#tasks.isEmpty) return;
    this.batch(() => {
      while (!this.#tasks.isEmpty) this.#tasks.work(this.#now, Infinity);
    });
  }

  /** Called by the clock at the requested time. */
  readonly tick = (): void => {
    this.#wakeTime = undefined;
    const now = this.begin();
    this.#isFiring = true;
    this.#fire(now);
    this.end(now);
  };

  /** Fires the timers that are due. With a pace it fires one for each step that is left, and the others in later turns. */
  #fire(now: number): void {
    while (this.#isFiring && this.#steps > 0) {
      if (this.timers.fireNext(now)) this.#steps--;
      else this.#isFiring = false;
    }
  }

  #work(now: number): void {
    while (this.#steps > 0) {
      // All due timers fire before the work that one of them causes, as they do without a pace.
      if (this.#isFiring) {
        this.#fire(now);
        continue;
      }
      if (!this.#tasks.isEmpty) {
        this.#steps -= this.#tasks.work(now, this.#steps);
        continue;
      }
      if (this.dead.length >= letterBatch) {
        this.#steps -= this.routeDeadLetters(now, Math.min(this.#steps, this.dead.length));
        continue;
      }
      // A queue is served before messages that died in it arrive in a queue, unless many wait already (letterBatch).
      const served = this.#serveNext(now, Math.min(this.#steps, letterBatch));
      if (served > 0) {
        this.#steps -= served;
        continue;
      }
      if (this.#routeNext(now)) {
        this.#steps--;
        continue;
      }
      if (this.pace !== undefined || this.#clearing.isEmpty) break;
      this.#clear(now, Infinity);
    }
    this.#requestTurn();
  }

  /** Clears away. @param limit steps at most @returns steps taken */
  #clear(now: number, limit: number): number {
    let steps = 0;
    while (steps < limit && !this.#clearing.isEmpty) {
      steps += this.#clearing.work(now, limit - steps);
      this.#clearing.callWaiters();
    }
    return steps;
  }

  get #isBusy(): boolean {
    if (this.dead.length > 0 || this.#queues.length > 0 || !this.#tasks.isEmpty) return true;
    return this.#isFiring || !this.#clearing.isEmpty;
  }

  #send(): void {
    this.#sending = true;
    try {
      for (let output = this.#outputs.first(); output !== undefined; output = this.#outputs.first()) {
        if (this.#steps <= 0) return;
        this.#steps--;
        this.#outputs.shift();
        try {
          output.send();
        } finally {
          output.connection.pendingOutputs.sent();
        }
      }
    } finally {
      this.#sending = false;
      this.#requestTurn();
    }
  }

  /**
   * Asks the host for a new turn, with new steps, when half of the steps are spent or work is left. So infrequent commands rarely cost a
   * turn, and an endless chain of small commands cannot block the host.
   */
  #requestTurn(): void {
    const { pace } = this;
    if (pace === undefined || this.#resuming || this.isHeld) return;
    if (this.#steps > pace.budget / 2 && this.#outputs.length === 0 && !this.#isBusy) return;
    this.#resuming = true;
    pace.later(this.#resume);
  }

  readonly #resume = (): void => {
    this.#resuming = false;
    if (this.isHeld) return;
    const { budget } = this.pace as Pace;
    this.#steps = budget;
    if (this.#outputs.length === 0 && !this.#isBusy) return;
    const now = this.begin();
    this.#steps -= this.#clear(now, Math.ceil(budget / 2));
    this.end(now);
  };

  /**
   * A callback of the journal covers all commits before its own, so the waiters of several commits are called in one
   * command.
   */
  #commit(journal: Journal): void {
    const before = this.#committedWaiter;
    for (let waiter = this.#uncommitted.first(); waiter !== undefined; waiter = this.#uncommitted.first()) {
      if (waiter.letters > this.#routed) break;
      this.#uncommitted.shift();
      this.#unsynced.push(waiter);
      this.#committedWaiter++;
    }
    const upTo = this.#committedWaiter;
    journal.commit(upTo === before ? undefined : (failure) => this.#callWaiters(upTo, failure));
  }

  #callWaiters(upTo: number, failure: Error | undefined): void {
    if (upTo <= this.#calledWaiter) return;
    this.batch(() => {
      while (this.#calledWaiter < upTo) {
        this.#calledWaiter++;
        (this.#unsynced.shift() as Waiter).settled(failure);
      }
    });
  }

  #askClock(): void {
    this.#wakeTime = this.timers.next;
    this.clock.wakeAt(this.#wakeTime, this.tick);
  }
}
