import type { FieldTable } from '../../message/index.js';
import type { Entry } from '../queue/entry.js';
import type { Queue } from '../queue/queue.js';
import type { ConsumerView } from '../queue/consumers.js';
import { Prefetch } from './prefetch.js';
import type { Receiver } from './receiver.js';

/** A subscription of a channel to a queue. */
export class Consumer implements ConsumerView {
  readonly prefetch: Prefetch;
  /** It was found full and left the queue's turns; to be brought back when there is room. */
  isParked = false;

  constructor(
    readonly receiver: Receiver,
    readonly tag: string,
    readonly queue: Queue,
    readonly noAck: boolean,
    readonly exclusive: boolean,
    readonly priority: number,
    prefetch: number,
    /** As it was started with, for those who look. */
    readonly args: FieldTable,
  ) {
    this.prefetch = new Prefetch(prefetch);
  }

  canTake(): boolean {
    const { isFlowing, prefetch } = this.receiver;
    // Rule Q4: a full channel gives nothing to its consumers without acks either.
    const room = isFlowing && prefetch.hasRoom && (this.noAck || this.prefetch.hasRoom);
    if (!room) this.isParked = true;
    return room;
  }

  take(entry: Entry): void {
    this.receiver.handOut(this.queue, entry, this);
  }

  cancelledByServer(): void {
    this.receiver.ended(this);
  }

  /** There may be room again. */
  revive(): void {
    if (!this.isParked) return;
    this.isParked = false;
    this.queue.revive(this);
  }
}
