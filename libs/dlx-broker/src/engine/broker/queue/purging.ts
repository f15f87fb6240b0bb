import type { QueueDeclared } from '../declarations.js';
import type { Journal, MessageOwner } from '../ports.js';
import type { Profile } from '../profile.js';
import type { Task } from '../scheduler/task.js';
import type { QueueSettings } from './arguments.js';
import type { Packer } from './backlog/index.js';
import type { Contents, PurgedMessages } from './contents.js';
import type { Entry } from './entry.js';
import { readyListOf } from './priority-list.js';
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
  /** Makes rows of the messages of long queues; undefined where messages stay objects. */
  readonly packer: Packer | undefined;
  readonly journal: Journal | undefined;
  /** Adds a task that frees deleted things in turns. */
  clearAway(task: Task): void;
}

/** Purged messages that count as one step of the scheduler, because a drop is much less work than a delivery. */
export const purgesPerStep = 16;

/** A purge of up to this many messages drops them in its command, a larger one in turns. */
const purgedPerCommand = 256;

/**
 * Removes all messages of a queue that are not unacknowledged.
 * @param count the number of these messages
 * @returns the empty list for later messages
 */
export function purge(queue: PurgedQueue, contents: Contents, count: number): Ready {
  const { home } = queue;
  const ready = readyListOf(queue.declared.type, queue.settings, home.profile, home.packer);
  const purging = new Purging(queue, contents.takeAll(ready), (entry) => {
    contents.removePersistent(entry.message);
    home.journal?.settled(queue, entry);
  });
  if (count > purgedPerCommand) home.clearAway(purging);
  else purging.work(0, Infinity);
  return ready;
}

/**
 * Drops the purged messages, oldest first. Clients do not see them any more. After a crash some of the newest may be back, so the
 * answer to the purge waits until all are dropped (rule O6).
 */
class Purging implements Task {
  constructor(
    readonly queue: PurgedQueue,
    readonly taken: PurgedMessages,
    readonly drop: (entry: Entry) => void,
  ) {}

  work(_now: number, limit: number): number {
    for (let steps = 0; steps < limit; steps++) if (!this.#step()) return steps;
    return limit;
  }

  /** @returns false when nothing is left to do */
  #step(): boolean {
    for (let count = 0; count < purgesPerStep; count++) {
      if (this.queue.deleted) return this.#end(); // the deletion of the queue covers them all in the journal
      const entry = this.taken.next();
      if (entry === undefined) return this.#end();
      this.drop(entry);
    }
    return true;
  }

  #end(): false {
    this.taken.ready.clear();
    this.taken.delayed?.clear();
    return false;
  }
}
