import type { Address } from '../../engine/message/index.js';

/** The reason why a message stays in its queue. `unproven_origin`: only its headers name the origin. */
export type Left = 'unroutable' | 'refused' | 'forbidden' | 'no_origin' | 'unproven_origin' | 'no_exchange';

/** Messages left for one reason, on their way to one address. */
export interface LeftAt {
  readonly why: Left;
  /** Undefined for messages without an origin, or with one that only headers name. */
  readonly to: Address | undefined;
  readonly count: number;
  /** The position of one of them. */
  readonly example: number;
}

/** The largest number of addresses with a count of their own. */
const mostAddresses = 100;

/** The counts of a redrive. Their memory does not grow with the number of messages. */
export class RedriveCounts {
  moved = 0;
  /** Messages that were delivered, expired or dropped before their turn. */
  gone = 0;
  left = 0;
  /** Messages among those left whose origin only headers name. */
  unproven = 0;
  /** Redriven messages that died again. */
  returned = 0;
  /** Messages to destinations beyond the largest number with a count of their own. */
  otherDestinations = 0;
  readonly #destinations = new Map<string, number>();
  readonly #left = new Map<string, { -readonly [key in keyof LeftAt]: LeftAt[key] }>();

  /** @param mostNames the largest number of destinations with a count of their own; all others are counted together */
  constructor(readonly mostNames = 1_000) {}

  arrived(queues: readonly string[]): void {
    for (const queue of queues) {
      const count = this.#destinations.get(queue);
      if (count !== undefined || this.#destinations.size < this.mostNames)
        this.#destinations.set(queue, (count ?? 0) + 1);
      else this.otherDestinations++;
    }
  }

  leave(why: Left, to: Address | undefined, position: number): void {
    this.left++;
    if (why === 'unproven_origin') this.unproven++;
    const place = JSON.stringify([why, to?.exchange, to?.routingKey]);
    const known = this.#left.get(place);
    if (known !== undefined) known.count++;
    else if (this.#left.size < mostAddresses) this.#left.set(place, { why, to, count: 1, example: position });
  }

  /** How many messages each queue got, or would get in a dry run. */
  get destinations(): ReadonlyMap<string, number> {
    return this.#destinations;
  }

  get leftAt(): readonly LeftAt[] {
    return [...this.#left.values()];
  }
}
