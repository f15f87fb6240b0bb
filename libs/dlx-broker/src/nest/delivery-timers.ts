import { after } from '../host/index.js';
import { type Backend } from '../backend/index.js';

/**
 * Timers about messages in hand. A message that went back to its queue, because its consumer was closed, has no timer
 * any more: {@link sweep} calls it off. It would keep the process alive, and the message in memory.
 */
export class DeliveryTimers {
  readonly #waiting = new Map<() => void, () => boolean>();

  constructor(private readonly clock: Backend['clock']) {}

  /**
   * @param milliseconds of the broker's time
   * @param isOver whether the message is settled
   * @returns what calls it off
   */
  after(milliseconds: number, isOver: () => boolean, then: () => void): () => void {
    const callOff = after(this.clock, milliseconds, () => {
      this.#waiting.delete(end);
      then();
    });
    const end = (): void => {
      if (this.#waiting.delete(end)) callOff();
    };
    this.#waiting.set(end, isOver);
    return end;
  }

  /** Calls off those of messages that are settled. */
  sweep(): void {
    for (const [end, isOver] of this.#waiting) if (isOver()) end();
  }
}
