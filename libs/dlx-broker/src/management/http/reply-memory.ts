import { Problem } from './reply.js';

/** What replies that wait for their clients may take. */
export interface ReplyLimits {
  /** Bytes of replies that one user's clients have not read; beyond it, the next is not made. */
  readonly unreadOfUser: number;
  /** Of all users. */
  readonly unread: number;
  /** Replies of one user that are made at a time. */
  readonly madeAtATime: number;
  /** Milliseconds for which a reply waits to be made. */
  readonly patience: number;
}

export const usualReplyLimits: ReplyLimits = {
  unreadOfUser: 33_554_432,
  unread: 268_435_456,
  madeAtATime: 8,
  patience: 10_000,
};

/** A reply that is not made yet. */
interface Waiting {
  readonly begin: () => void;
  readonly refuse: () => void;
  /** When it is refused. */
  readonly until: number;
}

interface Share {
  making: number;
  /** Bytes made and not read. */
  bytes: number;
  readonly waiting: Set<Waiting>;
}

/**
 * Lets replies be made as long as what waits to be read is within bounds, by user and in all. A client that asks and does
 * not read keeps its own user's replies waiting and not those of others.
 */
export class ReplyMemory {
  readonly #limits: ReplyLimits;
  readonly #now: () => number;
  /** By user; only of those that have something here. */
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

  /** Whether replies wait because too much is not read. */
  isShort(user: string): boolean {
    return this.#bytes >= this.#limits.unread || (this.#shares.get(user)?.bytes ?? 0) >= this.#limits.unreadOfUser;
  }

  /**
   * Waits until a reply may be made.
   * @param signal ends the wait
   * @returns to be called when it is made
   * @throws Problem 503 when there is no room for it in time
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

  /** A reply was made. @returns to be called when it is read, or its client is gone */
  hold(user: string, bytes: number): () => void {
    const share = this.#share(user);
    this.#add(share, bytes);
    return () => {
      this.#add(share, -bytes);
      this.#next(user, share);
    };
  }

  /** Refuses what has waited too long; begins what may begin now that others have read. */
  look(): void {
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
      const waiting: Waiting = { begin, refuse, until: this.#now() + this.#limits.patience };
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
