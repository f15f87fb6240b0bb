import type { Message } from '../../message/index.js';

/** A message's place in one queue. A message in several queues has one in each, and shares the rest (rule H13). */
export class Entry {
  /** How often it was returned to the queue; more than never means redelivered (rules D2, J2). */
  returns = 0;

  constructor(
    readonly message: Message,
    /** Grows with every message the queue takes; a return goes back to it (rule J2). */
    public position: number,
    /** When it expires in this queue, 0 for never: fixed when it is enqueued (rule B4). */
    readonly deadline: number,
  ) {}
}

/** Where a message stood that outlived the process (section L). */
export interface Place {
  readonly position: number;
  readonly deadline: number;
  readonly returns: number;
  /** It was in somebody's hands. */
  readonly delivered: boolean;
}
