import type { ScheduledQueue } from '../scheduler/scheduler.js';
import type { ContentsHome } from './contents.js';
import type { DeadLetteringHome } from './dead-lettering.js';
import type { PurgeHome } from './purging.js';

/** What a queue needs of its virtual host. */
export interface QueueHome extends ContentsHome, DeadLetteringHome, PurgeHome {
  /** Asks for a call of `serve` when the command is over. */
  scheduleQueue(queue: ScheduledQueue): void;
  /** Deletes the queue of this name: it was unused for too long (rule B12), or its last consumer left (rule O5). */
  dropQueue(name: string): void;
  /** Ends the pause of the queue of this name (rule X3). */
  resumeQueue(name: string): void;
}
