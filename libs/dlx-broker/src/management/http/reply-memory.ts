import { Problem } from './reply.js';

/** Limits of the replies that clients have not read. */
export interface ReplyLimits {
  /** The most unread bytes of replies to one user. Beyond it the next reply has to wait. */
  readonly unreadOfUser: number;
  /** The most unread bytes of replies to all users. */
  readonly unread: number;
  /** The most replies to one user that are made at the same time. */
  readonly madeAtATime: number;
  /** Milliseconds for which a reply waits to be made. */
  readonly timeout: number;
}

export const defaultReplyLimits: ReplyLimits = {
  unreadOfUser: 33_554_432,
  unread: 268_435_456,
  madeAtATime: 8,
  timeout: 10_000,
};

/** A reply that is not made yet. */
interface Waiting {
  readonly begin: () => void;
  readonly refuse: () => void;
  /** The time at which the reply is refused. */
  readonly until: number;
}

interface Share {
  making: number;
  /** UnreadableBodies bytes. */
  bytes: number;
  readonly waiting: Set<Waiting>;
}

/**
 * Limits the memory of unread replies, by user and in all. A client that does not read its replies delays replies to its own user,
 * and not those to others.
 */
export class ReplyMemory {
  readonly #limits: ReplyLimits;
  readonly #now: () => number;
  /** By user. A user without pending or unread replies has no entry. */
  readonly #shares = new Map<string, Share>();
  #bytes = 0;

  /** @param now milliseconds of a clock that never goes back */
  constructor(limits: ReplyLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Bytes of replies that are made and not read. */
  get bytes(): number {
    return this.#bytes;
  }

  /** True if the replies to a user wait, because too many bytes are unread. */
  isShort(user: string): boolean {
    return this.#bytes >= this.#limits.unread || (this.#shares.get(user)?.bytes ?? 0) >= this.#limits.unreadOfUser;
  }

  /**
   * Waits until a reply may be made.
   * @param signal ends the wait
   * @returns a function to call when the reply is made
   * @throws Problem 503 when there is no memory for the reply in time
   */
  async turn(user: string, signal: AbortSignal): Promise<() => void> {
    const share = this.#share(user);
    if (this.#isFree(user, share)) share.making++;
    else await this.#wait(share, signal);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      share.making--;
      this.#next(user, share);
    };
  }

  /** Counts a reply that was made. @returns a function to call when it was read, or its client has gone */
  hold(user: string, bytes: number): () => void {
    const share = this.#share(user);
    this.#add(share, bytes);
    return () => {
      this.#add(share, -bytes);
      this.#next(user, share);
    };
  }

  /** Refuses replies that have waited too long, and begins those for which there is memory now. */
  check(): void {
    const now = this.#now();
    for (const [user, share] of this.#shares) {
      for (const waiting of share.waiting) if (waiting.until <= now) waiting.refuse();
      this.#next(user, share);
    }
  }

  #wait(share: Share, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (act: () => void): void => {
        share.waiting.delete(waiting);
        signal.removeEventListener('abort', refuse);
        act();
      };
      const refuse = (): void => end(() => reject(tooManyUnread()));
      const begin = (): void => end(resolve);
      const waiting: Waiting = { begin, refuse, until: this.#now() + this.#limits.timeout };
      share.waiting.add(waiting);
      signal.addEventListener('abort', refuse);
      if (signal.aborted) refuse();
    });
  }

  #next(user: string, share: Share): void {
    for (const waiting of share.waiting) {
      if (!this.#isFree(user, share)) return;
      share.making++;
      waiting.begin();
    }
    if (share.making === 0 && share.bytes === 0) this.#shares.delete(user);
  }

  #isFree(user: string, share: Share): boolean {
    return share.making < this.#limits.madeAtATime && !this.isShort(user);
  }

  #add(share: Share, bytes: number): void {
    share.bytes += bytes;
    this.#bytes += bytes;
  }

  #share(user: string): Share {
    let share = this.#shares.get(user);
    if (share === undefined) this.#shares.set(user, (share = { making: 0, bytes: 0, waiting: new Set() }));
    return share;
  }
}

const tooManyUnread = (): Problem =>
  new Problem(503, 'too_many_unread_replies', 'Earlier replies to this user have not been read; read or close them', {
    'retry-after': '1',
  });
