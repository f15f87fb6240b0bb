import type { Message } from '../../message/index.js';
import type { Browse, Browsed } from '../queue/browse.js';
import type { Entry } from '../queue/entry.js';

/** A queue, as far as a look for its oldest message is concerned. */
export interface LookedAt {
  /** Ready messages. */
  readonly length: number;
  /** Ready messages of each priority from 0; undefined without priorities. */
  readonly lengths: readonly number[] | undefined;
  browse(browse: Browse): Browsed;
  find(position: number): Entry | undefined;
}

/** Since when a message is dead, in milliseconds since 1970; undefined if it is not. The answer for a message never changes. */
export type TimeOf = (message: Message) => number | undefined;
