import { after } from '../../platform/index.js';
import { type Backend } from '../../backends/index.js';

/**
 * Timers of unsettled messages. The timer of a message that returned to its queue, because its consumer was closed, would keep
 * the process alive and the message in memory: {@link sweep} stops it.
 */
export class DeliveryTimers {
  readonly #waiting = new Map<() => void, () => boolean>();

  constructor(private readonly clock: Backend['clock']) {}

  /**
   * @param milliseconds by the broker's clock
   * @param isOver returns true when the message is settled
   * @returns a function that stops the timer
   */
  after(milliseconds: number, isOver: () => boolean, then: () => void): () => void {
    const cancel = after(this.clock, milliseconds, () => {
      this.#waiting.delete(end);
      then();
    });
    const end = (): void => {
      if (this.#waiting.delete(end)) cancel();
    };
    this.#waiting.set(end, isOver);
    return end;
  }

  /** Stops the timers of settled messages. */
  sweep(): void {
    for (const [end, isOver] of this.#waiting) if (isOver()) end();
  }
}
