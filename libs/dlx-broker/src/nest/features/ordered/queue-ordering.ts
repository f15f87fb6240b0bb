import type { TimeInHand } from './time-in-hand.js';

/** How a queue keeps the order of its messages. */
export interface QueueOrdering {
  /** Class and method of the first handler, for the log. */
  readonly handler: string;
  /** The most messages in hand. */
  readonly window: number;
  /** The most handlers at work. */
  readonly atWork: number;
  /** The longest wait before another attempt, in milliseconds. */
  readonly holdAtMost: number;
  /** How long each handler may keep a message in hand. */
  readonly timesInHand: readonly TimeInHand[];
}
