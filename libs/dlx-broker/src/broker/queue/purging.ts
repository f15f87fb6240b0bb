import type { Task } from '../scheduler/task.js';
import type { QueueDeclared } from '../declarations.js';
import type { Journal, MessageOwner } from '../ports.js';
import type { Profile } from '../profile.js';
import type { QueueSettings } from './arguments.js';
import type { Contents, TakenOut } from './contents.js';
import type { Entry } from './entry.js';
import type { Packer } from './packer.js';
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
  /** Says when a queue is long; undefined where messages stay objects. */
  readonly packer: Packer | undefined;
  readonly journal: Journal | undefined;
  /** Adds a task that clears away, in turns, what is gone for every client. */
  clearAway(task: Task): void;
}

/** To drop a message is much less work than to move it: so many are one step of the scheduler. */
export const purgedInStep = 16;

/** Up to so many messages are dropped at once, more in turns. */
const purgedAtOnce = 256;

/**
 * Removes all messages of a queue that are not unacknowledged.
 * @param count how many they are
 * @returns the list for what comes from now on
 */
export function purge(queue: PurgedQueue, contents: Contents, count: number): Ready {
  const { home } = queue;
  const ready = readyListOf(queue.declared.type, queue.settings, home.profile, home.packer);
  const purging = new Purging(queue, contents.takeAll(ready), (entry) => {
    contents.removePersistent(entry.message);
    home.journal?.settled(queue, entry);
  });
  if (count > purgedAtOnce) home.clearAway(purging);
  else purging.work(0, Infinity);
  return ready;
}

/**
 * Drops the purged messages, oldest first. For clients they are gone already. After a crash some of the newest are
 * back, and the answer to the purge waits until all are gone (rule O6).
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
      if (this.queue.deleted) return this.#end(); // the deletion of the queue covers them all in the journal
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
