import type { Message } from '../../message/index.js';
import type { Browse, Browsed } from '../queue/browse.js';

/** What the search for the oldest message of a queue needs of the queue. */
export interface SearchedQueue {
  /** Ready messages. */
  readonly length: number;
  /** Ready messages of each priority from 0; undefined without priorities. */
  readonly lengths: readonly number[] | undefined;
  browse(browse: Browse): Browsed;
  has(position: number): boolean;
}

/** Since when a message is dead, in milliseconds since 1970; undefined if it is not. The answer for a message never changes. */
export type TimeOf = (message: Message) => number | undefined;
