import type { Message } from '../../message/index.js';
import type { Queue } from './queue.js';
import type { QueueHome } from './queue-home.js';
import { Delayed } from './delayed.js';
import type { Entry } from './entry.js';
import { exceeds } from './overflow.js';
import type { Ready } from './ready-list.js';
import type { Retained } from './retained.js';
import type { QueueSettings } from './settings.js';

/** What a queue holds: messages that are ready, held back, or in somebody's hands, in sums that cost nothing to ask for. */
export class Contents {
  /** Sum of all bodies. */
  bytes = 0;
  /** Messages published as persistent. */
  persistent = 0;
  persistentBytes = 0;
  #delayed: Delayed | undefined;

  constructor(
    readonly ready: Ready,
    readonly home: QueueHome,
    /** Called when something is ready that was held back. */
    readonly wake: () => void,
  ) {}

  /** Messages held back. */
  get delayed(): number {
    return this.#delayed?.count ?? 0;
  }

  get bytesUnacked(): number {
    return this.bytes - this.ready.bytes - (this.#delayed?.bytes ?? 0);
  }

  /**
   * The next ready one, with its body at hand. One whose body cannot be read back as it was written is lost, for nothing
   * else may be delivered in its place.
   */
  next(queue: Queue): Entry | undefined {
    for (;;) {
      const entry = this.ready.shift();
      if (entry === undefined || entry.message.isAtHand) return entry;
      try {
        entry.message.fetch();
        return entry;
      } catch {
        this.remove(entry.message);
        this.home.journal?.settled(queue, entry);
      }
    }
  }

  /** A message came, wherever it goes next. */
  add(message: Message): void {
    const { size } = message;
    this.bytes += size;
    if (message.properties.deliveryMode !== 2) return;
    this.persistent++;
    this.persistentBytes += size;
  }

  /** A message is gone for good. */
  remove(message: Message): void {
    const { size } = message;
    this.bytes -= size;
    if (message.properties.deliveryMode !== 2) return;
    this.persistent--;
    this.persistentBytes -= size;
  }

  /** Rule W7: when its time is over it stands with the returned, before all others. */
  delay(entry: Entry, time: number): void {
    this.#delayed ??= new Delayed(this.home.wakeups, (entries) => {
      for (const due of entries) this.ready.giveBack(due, 'front');
      this.wake();
    });
    this.#delayed.add(entry, time);
  }

  eachDelayed(visit: (entry: Entry, due: number) => void): void {
    this.#delayed?.each(visit);
  }

  /** Whether they are too many (rules C1, W7). */
  exceed(settings: QueueSettings): boolean {
    const { length, bytes } = this.ready;
    const delayed = this.#delayed;
    if (delayed === undefined) return exceeds(settings, length, bytes);
    return length > 0 && exceeds(settings, length + delayed.count, bytes + delayed.bytes);
  }

  /**
   * Whether they would be too many with this message.
   * @param retained these count, too (rule M5)
   * @param without one that is about to leave
   */
  wouldExceed(settings: QueueSettings, message: Message, retained: Retained | undefined, without?: Entry): boolean {
    const delayed = this.#delayed;
    const length = this.ready.length + (retained?.count ?? 0) + (delayed?.count ?? 0);
    const bytes = this.ready.bytes + (retained?.bytes ?? 0) + (delayed?.bytes ?? 0) + message.size;
    if (without === undefined) return exceeds(settings, length + 1, bytes);
    return exceeds(settings, length, bytes - without.message.size);
  }

  /** Drops all but what is in somebody's hands. */
  purge(drop: (entry: Entry) => void): void {
    const each = (entry: Entry): void => {
      this.remove(entry.message);
      drop(entry);
    };
    this.ready.each(each);
    this.#delayed?.each(each);
    this.clear();
  }

  /** Forgets all but what is in somebody's hands, when nobody will ask any more. */
  clear(): void {
    this.ready.clear();
    this.#delayed?.clear();
  }
}
