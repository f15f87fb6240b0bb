import { AmqpError } from '../../engine/broker/index.js';
import type { FrameHolder, HeldFrames } from '../wire/index.js';

/**
 * Frames of which only a part has come, over all connections of a listener (decision 119). Above the limit the holder
 * that has been silent longest drops its part and its connection: a client that goes on sending is safe from this.
 */
export class UnfinishedFrames implements HeldFrames {
  /** Bytes held now. */
  bytes = 0;
  /** The holders of a part, those silent for longest first. */
  readonly #holders = new Set<FrameHolder>();

  /** @param limit bytes at most */
  constructor(readonly limit: number) {}

  grew(holder: FrameHolder, bytes: number): void {
    this.bytes += bytes;
    this.#holders.delete(holder);
    this.#holders.add(holder);
    if (this.bytes <= this.limit) return;
    for (const silent of this.#holders) {
      silent.drop();
      if (this.bytes <= this.limit) return;
    }
  }

  released(holder: FrameHolder, bytes: number): void {
    if (this.#holders.delete(holder)) this.bytes -= bytes;
  }
}

/** The error of a connection whose unfinished frame was dropped. */
export const tooManyFrames = (limit: number): AmqpError =>
  new AmqpError(
    'RESOURCE_ERROR',
    `unfinished frames of all connections exceed ${limit} bytes, and this one was silent in the middle of a frame longest; send frames without pauses, or raise limits.unfinishedFrames`,
  );
