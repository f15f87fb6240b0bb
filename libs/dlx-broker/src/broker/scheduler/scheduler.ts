import type { Connection } from '../channel/connection.js';
import type { Outstanding } from '../channel/outstanding.js';
import { Deque } from '../deque.js';
import type { Clock, Journal, Pace, Settled } from '../ports.js';
import type { DeadLetter } from '../queue/dead-letter.js';
import type { Queue } from '../queue/queue.js';
import { TaskQueue } from './task-queue.js';
import { Clearing } from './clearing.js';
import { Stalls } from '../queue/stall.js';
import { Wakeups } from './timers.js';

/** Something that leaves the broker: a delivery, a return, a confirm. */
export interface Output {
  /** Who gets it. */
  readonly connection: Connection;
  send(): void;
}

/** Work of one command that may be long: a bulk settlement. */
export interface Task {
  /**
   * Goes on where it stopped.
   * @param limit steps at most
   * @returns steps taken; fewer than the limit when it is done
   */
  work(now: number, limit: number): number;
}

/** Waits for the journal. */
interface Waiter {
  readonly settled: Settled;
  /** Dead letters to be carried first, counted from the beginning. */
  readonly letters: number;
}

/** So many steps of a task are done at once, whatever else there is to do. */
const atOnce = 256;

/** How the scheduler gets a dead letter to its exchange: the virtual host's part of the walk. */
export type RouteDeadLetter = (letter: DeadLetter, now: number) => void;

/**
 * What is still to be done. A command changes one room and leaves the rest here: dead letters to be carried on, queues
 * to be attended, outputs to be sent. It is a list and not a recursion, so a chain of any length needs no stack; with
 * a pace, the host gets its turn in between. Outputs leave after the command, never inside it.
 */
export class Scheduler {
  readonly wakeups = new Wakeups();
  /** Queues that stand still. */
  readonly stalls = new Stalls();
  readonly dead = new Deque<DeadLetter>();
  /** Deliveries that a settlement in turns covers: no longer the client's, not yet settled by the queue and the journal. */
  readonly leaving = new Set<Outstanding>();
  readonly #tasks = new TaskQueue();
  readonly #queues = new Deque<Queue>();
  readonly #clearing = new Clearing();
  readonly #outputs = new Deque<Output>();
  /** Of whom the journal does not know yet, and of whom it does. */
  readonly #uncommitted = new Deque<Waiter>();
  readonly #unsynced = new Deque<Waiter>();
  #last: Waiter | undefined;
  /** Waiters are numbered: the last one that was called, and the last one that was committed to the journal. */
  #toldWaiter = 0;
  #committedWaiter = 0;
  /** Dead letters so far. */
  #carried = 0;
  #depth = 0;
  #now = 0;
  #sending = false;
  #resuming = false;
  /** Some alarms that are due have not rung yet. */
  #isRinging = false;
  /** Left in this turn of the host, whatever many small commands it is spent on. */
  #steps: number;
  #asked: number | undefined;
  #stopped = false;

  constructor(
    readonly clock: Clock,
    readonly pace: Pace | undefined,
    readonly journal: Journal | undefined,
    readonly routeDeadLetter: RouteDeadLetter,
  ) {
    this.#steps = pace?.budget ?? Infinity;
  }

  /** Begins a command. @returns the one `now` of it; inside a batch that of the batch, by when all in it had arrived */
  begin(): number {
    if (this.#depth++ === 0) this.#now = this.clock.now();
    return this.#now;
  }

  /** Ends a command: does the work it left, then sends what goes out. */
  end(now: number): void {
    if (this.#isBusy) this.#work(now);
    if (--this.#depth > 0) return;
    for (let tell = this.#tasks.nextTold(); tell !== undefined; tell = this.#tasks.nextTold()) tell();
    if (this.journal !== undefined) this.#commit(this.journal);
    if (this.wakeups.next !== this.#asked && !this.#stopped && !this.#isRinging) this.#askClock();
    if (this.#outputs.length > 0 && !this.#sending) this.#send();
  }

  /**
   * Serves the queues on the list.
   * @param limit steps at most
   * @returns steps taken; as many as the limit when there may be more to do
   */
  serveUpTo(now: number, limit: number): number {
    let steps = 0;
    while (steps < limit) {
      const queue = this.#queues.shift();
      if (queue === undefined) return steps;
      queue.attended = false;
      const taken = queue.serve(now, limit - steps);
      if (taken >= limit - steps) this.serve(queue);
      steps += taken > 0 ? taken : 1;
    }
    return limit;
  }

  /** Carries dead letters on. @param limit so many at most @returns how many there were */
  carryUpTo(now: number, limit: number): number {
    let count = 0;
    for (; count < limit; count++) {
      const letter = this.dead.shift();
      if (letter === undefined) break;
      this.routeDeadLetter(letter, now);
      this.#carried++;
    }
    return count;
  }

  /** Inside a command that is about to fail: does the work it has left, and sends what goes out because of it. */
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

  serve(queue: Queue): void {
    if (queue.attended) return;
    queue.attended = true;
    this.#queues.push(queue);
  }

  /** Queues are attended when it is done, for what returns together counts together (rules C6, J2). */
  schedule(task: Task): void {
    this.#tasks.add(task);
  }

  /**
   * The same for a task that is little work most of the time. A little of it is done now, even where the steps of this turn
   * are spent, so that its client need not wait for others.
   */
  undertakeSoon(task: Task, now: number): void {
    const limit = Math.min(atOnce, this.#steps + (this.pace?.budget ?? Infinity));
    if (limit > 0) {
      const steps = task.work(now, limit);
      this.#steps -= steps;
      this.#mindPace();
      if (steps < limit) return;
    }
    this.schedule(task);
  }

  /** The number of the last task so far. */
  get lastTask(): number {
    return this.#tasks.last;
  }

  /** Calls `then` when all tasks up to this one are done: at once when they are, else after the command that ends the last. */
  afterTasks(then: () => void, upTo = this.lastTask): void {
    this.#tasks.after(upTo, then);
  }

  /**
   * Work that nothing else waits for: memory and records of what is gone for every client already. With a pace it takes
   * half of the steps of a turn at most, so that deliveries go on meanwhile.
   */
  clearAway(task: Task | undefined): void {
    if (task !== undefined) this.#clearing.add(task);
  }

  /** Calls `then` when all is cleared away that was left so far: at once when nothing is. */
  whenCleared(then: () => void): void {
    this.#clearing.whenDone(then);
  }

  output(output: Output): void {
    output.connection.lane.entered();
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
    this.#last = { settled: then, letters: this.#carried + this.dead.length };
    this.#uncommitted.push(this.#last);
    return this.#last;
  }

  /** True if a new waiter would share this waiter's pending commit. */
  joins(waiter: object): boolean {
    const last = this.#last;
    return last === waiter && this.#uncommitted.length > 0 && last.letters === this.#carried + this.dead.length;
  }

  /** The same at once, if the journal has received no change since. */
  onStored(since: number, then: Settled): void {
    if (this.sequence === since) then();
    else this.onDurable(then);
  }

  /** No more calls of the clock. Commands that are going on in turns come to their end, for there may be no other turn. */
  stop(): void {
    this.#stopped = true;
    this.clock.wakeAt(undefined, this.tick);
    if (this.#tasks.length === 0) return;
    this.batch(() => {
      while (this.#tasks.length > 0) this.#tasks.work(this.#now, Infinity);
    });
  }

  /** The clock's call. */
  readonly tick = (): void => {
    this.#asked = undefined;
    const now = this.begin();
    this.#isRinging = true;
    this.#ring(now);
    this.end(now);
  };

  /** Alarms that are due; with a pace as many as there are steps, the others when there are new ones. */
  #ring(now: number): void {
    while (this.#steps > 0) {
      if (!this.wakeups.ringNext(now)) {
        this.#isRinging = false;
        return;
      }
      this.#steps--;
    }
  }

  #work(now: number): void {
    while (this.#steps > 0) {
      // All that are due ring before anything comes of one of them, as they do where there is no pace.
      if (this.#isRinging) {
        this.#ring(now);
        continue;
      }
      if (this.#tasks.length > 0) {
        this.#steps -= this.#tasks.work(now, this.#steps);
        continue;
      }
      // A queue comes to rest before what died in it arrives anywhere, also if that is the same queue.
      const queue = this.#queues.shift();
      if (queue !== undefined) {
        queue.attended = false;
        const steps = queue.serve(now, this.#steps);
        if (steps >= this.#steps) this.serve(queue);
        this.#steps -= steps > 0 ? steps : 1;
        continue;
      }
      if (this.carryUpTo(now, 1) > 0) {
        this.#steps--;
        continue;
      }
      if (this.pace !== undefined || this.#clearing.isDone) break;
      this.#clearing.work(now, Infinity);
    }
    this.#mindPace();
  }

  get #isBusy(): boolean {
    if (this.dead.length > 0 || this.#queues.length > 0 || this.#tasks.length > 0) return true;
    return this.#isRinging || !this.#clearing.isDone;
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
          output.connection.lane.left();
        }
      }
    } finally {
      this.#sending = false;
      this.#mindPace();
    }
  }

  /**
   * Half of the steps are spent, or an output threw: asks for the host's next turn, which brings new ones. Sparse
   * commands so cost a turn in a thousand, and a chain of small ones that begets itself cannot hold the host up.
   */
  #mindPace(): void {
    const { pace } = this;
    if (pace === undefined || this.#resuming) return;
    if (this.#steps > pace.budget / 2 && this.#outputs.length === 0 && !this.#isBusy) return;
    this.#resuming = true;
    pace.later(this.#resume);
  }

  readonly #resume = (): void => {
    this.#resuming = false;
    const { budget } = this.pace as Pace;
    this.#steps = budget;
    if (this.#outputs.length === 0 && !this.#isBusy) return;
    const now = this.begin();
    if (!this.#clearing.isDone) this.#steps -= this.#clearing.work(now, Math.ceil(budget / 2));
    this.end(now);
  };

  /** What is settled settles all before it, so the waiters of several commits are called in one command. */
  #commit(journal: Journal): void {
    const before = this.#committedWaiter;
    for (let waiter = this.#uncommitted.first(); waiter !== undefined; waiter = this.#uncommitted.first()) {
      if (waiter.letters > this.#carried) break;
      this.#uncommitted.shift();
      this.#unsynced.push(waiter);
      this.#committedWaiter++;
    }
    const upTo = this.#committedWaiter;
    journal.commit(upTo === before ? undefined : (failure) => this.#tell(upTo, failure));
  }

  #tell(upTo: number, failure: Error | undefined): void {
    if (upTo <= this.#toldWaiter) return;
    this.batch(() => {
      while (this.#toldWaiter < upTo) {
        this.#toldWaiter++;
        (this.#unsynced.shift() as Waiter).settled(failure);
      }
    });
  }

  #askClock(): void {
    this.#asked = this.wakeups.next;
    this.clock.wakeAt(this.#asked, this.tick);
  }
}
