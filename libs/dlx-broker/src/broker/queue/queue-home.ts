import type { DeathReason, Message } from '../../message/index.js';
import type { Task } from '../scheduler/scheduler.js';
import type { TotalCounters } from '../counters.js';
import type { Deque } from '../deque.js';
import type { Journal } from '../ports.js';
import type { Profile } from '../profile.js';
import type { Wakeups } from '../scheduler/timers.js';
import type { DeadLetter } from './dead-letter.js';
import type { Queue } from './queue.js';
import type { Stalls } from './stall.js';

/** Sees a message die, inside the command that lets it die: it may start no other. */
export type DeathListener = (queue: Queue, message: Message, reason: DeathReason, now: number) => void;

/** What a queue borrows from its virtual host. */
export interface QueueHome {
  readonly name: string;
  readonly profile: Profile;
  readonly wakeups: Wakeups;
  readonly counters: TotalCounters;
  readonly deathListeners: ReadonlySet<DeathListener>;
  /** Where deaths are handed in; the virtual host carries them on after the command. */
  readonly dead: Deque<DeadLetter>;
  readonly journal: Journal | undefined;
  /** The queues that stand still. */
  readonly stalls: Stalls;
  /** Asks for a call of `serve` when the command is over. */
  serve(queue: Queue): void;
  /** What is gone for every client has still to be cleared away, in turns. */
  clearAway(task: Task | undefined): void;
  /** It is no longer wanted: its time is up (rule B12) or its last consumer left (rule O5). */
  drop(queue: Queue): void;
}
