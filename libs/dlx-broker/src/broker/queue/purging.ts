import type { Task } from '../scheduler/task.js';
import type { QueueDeclared } from '../declarations.js';
import type { Journal, MessageOwner } from '../ports.js';
import type { Profile } from '../profile.js';
import type { QueueSettings } from './arguments.js';
import type { Contents, TakenOut } from './contents.js';
import type { Entry } from './entry.js';
import { readyListOf } from './quorum-list.js';
import type { Ready } from './ready-list.js';

/** A queue, as a purge knows it. */
interface PurgedQueue extends MessageOwner {
  readonly home: PurgeHome;
  readonly declared: QueueDeclared;
  readonly settings: QueueSettings;
  readonly deleted: boolean;
}

/** What a purge needs of the virtual host. */
export interface PurgeHome {
  readonly name: string;
  readonly profile: Profile;
  readonly journal: Journal | undefined;
  /** What is gone for every client has still to be cleared away, in turns. */
  clearAway(task: Task): void;
}

/** Messages that only go are much less work than one that moves: so many are one step of the scheduler. */
export const purgedInStep = 16;

/** So many are let go of at once, more in turns. */
const fewEnough = 256;

/**
 * Removes all messages of a queue that are not unacknowledged.
 * @param count how many they are
 * @returns the list for what comes from now on
 */
export function purge(queue: PurgedQueue, contents: Contents, count: number): Ready {
  const { home } = queue;
  const ready = readyListOf(queue.declared.type, queue.settings, home.profile);
  const purging = new Purging(queue, contents.takeAll(ready), (entry) => {
    contents.removePersistent(entry.message);
    home.journal?.settled(queue, entry);
  });
  if (count > fewEnough) home.clearAway(purging);
  else purging.work(0, Infinity);
  return ready;
}

/**
 * Lets go of what was purged, oldest first: for clients it is gone already. A crash in its midst leaves some of the last
 * ones, and the answer to the purge waits until all are gone (rule O6).
 */
class Purging implements Task {
  constructor(
    readonly queue: PurgedQueue,
    readonly taken: TakenOut,
    readonly drop: (entry: Entry) => void,
  ) {}

  work(_now: number, limit: number): number {
    for (let steps = 0; steps < limit; steps++) if (!this.#step()) return steps;
    return limit;
  }

  /** @returns false when nothing is left to do */
  #step(): boolean {
    for (let count = 0; count < purgedInStep; count++) {
      if (this.queue.deleted) return this.#end(); // the journal knows of all of them by that
      const entry = this.taken.next();
      if (entry === undefined) return this.#end();
      this.drop(entry);
    }
    return true;
  }

  #end(): false {
    this.taken.delayed?.clear();
    return false;
  }
}
