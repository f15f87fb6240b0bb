import type { Done, Publication } from '../../backend.js';
import { OverloadedError } from '../../errors.js';
import type { Outgoing } from './outgoing.js';

/** Publishes with a confirm. */
export type Publish = (publication: Publication, done: Done) => void;

/**
 * Publishes messages in order, and waits for the answers to all of them: also after a failure, so that no confirm is open when the
 * message is handled again.
 * @param done gets the failure of the first message, in this order, that the server did not take
 */
export function allPublished(publications: readonly Publication[], publish: Publish, done: Done): void {
  let open = publications.length;
  if (open === 0) return done();
  const failures: (Error | undefined)[] = [];
  for (const [index, publication] of publications.entries()) {
    publish(publication, (failure) => {
      failures[index] = failure;
      if (--open === 0) done(failures.find((each) => each !== undefined));
    });
  }
}

/**
 * Milliseconds of nacks after which a channel is replaced. A channel that was opened while the leader of a queue was down may never
 * recover.
 */
const replaceAfter = 1_000;

/** The same for the next channel, in milliseconds. It may have been opened too early as well. */
const replaceAgainAfter = 500;

/** After this many replacements the pause between two of them doubles. */
const quick = 3;

/** The longest pause between two replacements for nacks, in milliseconds. */
const longestPause = 16_000;

/** Half the time without a replacement after which channels may be replaced quickly again, in milliseconds. */
const calm = 5_000;

/** Decides how often a channel that only refuses is replaced. */
export class Replacements {
  #pause = replaceAgainAfter;
  #count = 0;
  #replacedAt = -Infinity;

  /**
   * Counts a replacement if it is due.
   * @param refusingSince the time of the first nack of the channel, in milliseconds since 1970
   */
  isDue(refusingSince: number, now: number): boolean {
    const since = now - this.#replacedAt;
    // Twice the pause without a replacement: the trouble was over meanwhile, and this is another one.
    if (since > 2 * Math.max(this.#pause, calm)) {
      this.#pause = replaceAgainAfter;
      this.#count = 0;
    }
    if (now - refusingSince < (this.#count === 0 ? replaceAfter : replaceAgainAfter) || since < this.#pause)
      return false;
    this.#replacedAt = now;
    if (++this.#count >= quick) this.#pause = Math.min(longestPause, this.#pause * 2);
    return true;
  }
}

/**
 * Decides when a connection is left because its server answers no publish. A node that is cut off from the majority of its cluster keeps
 * its connections and their heartbeats, and RabbitMQ 4 never ends them. While no other node answers either, the wait doubles.
 */
export class Silence {
  #limit: number;
  #quietSince = -Infinity;

  /** @param first milliseconds without an answer after which the first connection is left */
  constructor(private readonly first: number) {
    this.#limit = first;
  }

  /** Another connection is in use. */
  begin(now: number): void {
    this.#quietSince = now;
  }

  /**
   * Called at regular intervals while publishes are open.
   * @param isWaiting true if an answer is due
   * @param hasAnswered true if there was one since the last call
   * @returns the milliseconds without an answer if the connection is to be left; otherwise undefined
   */
  over(now: number, isWaiting: boolean, hasAnswered: boolean): number | undefined {
    if (!isWaiting || hasAnswered) this.#quietSince = now;
    if (hasAnswered) this.#limit = this.first;
    const quiet = this.#limit;
    if (now - this.#quietSince < quiet) return undefined;
    this.#limit *= 2;
    return quiet;
  }
}

/** Limits of the messages that are not confirmed. A single message may be larger than `bytes`. */
export interface BufferLimits {
  readonly messages: number;
  readonly bytes: number;
}

/**
 * All publishes that are neither confirmed nor failed, in the order of their deadlines. They are linked with one another: a Set of
 * publishes that come and go is copied again and again.
 */
export class OpenPublishes {
  #first: Outgoing | undefined;
  #last: Outgoing | undefined;
  #count = 0;
  #bytes = 0;

  constructor(private readonly limits: BufferLimits) {}

  get count(): number {
    return this.#count;
  }

  hasRoomFor(size: number): boolean {
    const { messages, bytes } = this.limits;
    return this.#count === 0 || (this.#count < messages && this.#bytes + size <= bytes);
  }

  add(outgoing: Outgoing): void {
    const last = this.#last;
    if (last === undefined) this.#first = outgoing;
    else {
      last.next = outgoing;
      outgoing.previous = last;
    }
    this.#last = outgoing;
    this.#count++;
    this.#bytes += outgoing.size;
  }

  /** @param outgoing was added, and not removed yet */
  remove(outgoing: Outgoing): void {
    const { previous, next } = outgoing;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    // A publish that is over must not keep later ones in memory.
    outgoing.previous = outgoing.next = undefined;
    this.#count--;
    this.#bytes -= outgoing.size;
  }

  /** The oldest publish, if its deadline is not after this time. @param now milliseconds since 1970 */
  lateAt(now: number): Outgoing | undefined {
    const first = this.#first;
    return first !== undefined && first.deadline <= now ? first : undefined;
  }

  /** The error of a publish for which there is no room. @param why why the buffer is not emptied */
  full(why: string): OverloadedError {
    const { messages, bytes } = this.limits;
    const held = `${this.#count} messages of ${this.#bytes} bytes are not confirmed yet`;
    const bound = `at most ${messages} messages of ${bytes} bytes are held (option 'publishBuffer')`;
    return new OverloadedError(`${held}, and ${bound}: ${why}`);
  }
}
