import { Problem } from './reply.js';

/** The most bytes of bodies of requests that are not answered yet. */
export interface BodyLimits {
  readonly ofUser: number;
  readonly all: number;
}

/** The bytes of the body of one request. */
export interface BodyShare {
  /** Counts received bytes. @throws Problem 503 when there is no memory for them */
  keep(bytes: number): void;
  /** Frees the bytes of a request that was answered. */
  end(): void;
}

/** Limits the memory of unfinished bodies of requests, by user and in all (decision 104). */
export class BodyMemory {
  readonly #limits: BodyLimits;
  /** The bytes by user. A user without an unfinished body has no entry. */
  readonly #ofUser = new Map<string, number>();
  #all = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  share(user: string): BodyShare {
    let kept = 0;
    return {
      keep: (bytes) => {
        const { ofUser, all } = this.#limits;
        if ((this.#ofUser.get(user) ?? 0) + bytes > ofUser || this.#all + bytes > all) throw tooManyUnfinished();
        kept += bytes;
        this.#add(user, bytes);
      },
      end: () => {
        this.#add(user, -kept);
        kept = 0;
      },
    };
  }

  #add(user: string, bytes: number): void {
    this.#all += bytes;
    const sum = (this.#ofUser.get(user) ?? 0) + bytes;
    if (sum === 0) this.#ofUser.delete(user);
    else this.#ofUser.set(user, sum);
  }
}

/** Room for three bodies of the largest size for each user, at least, and for four times as much in all. */
export function bodyLimitsFor(bodyLimit: number): BodyLimits {
  const ofUser = Math.max(67_108_864, 3 * bodyLimit);
  return { ofUser, all: 4 * ofUser };
}

const tooManyUnfinished = (): Problem =>
  new Problem(
    503,
    'too_many_unfinished_bodies',
    'The bodies of requests that are not answered yet take too much memory; finish or close them',
    { 'retry-after': '1', connection: 'close' },
  );
