import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DeadLetters, type XDeath } from 'dlx-broker';
import { type DecodedLetter, whereDecoded } from 'dlx-broker/streams';
import type { Order } from './order.js';

export interface DeadOrder {
  readonly letter: number;
  readonly order: Order;
  readonly error: string | undefined;
  /** The entries of its `x-death`, the latest first. */
  readonly deaths: readonly XDeath[];
}

/** Holds the dead orders, unsettled, until an operator redrives them. When the shop closes, they return to their queue. */
@Injectable()
export class DeadOrders implements OnApplicationBootstrap {
  readonly #letters = new Map<number, DecodedLetter<Order>>();
  #count = 0;

  constructor(private readonly letters: DeadLetters) {}

  onApplicationBootstrap(): void {
    this.letters
      .from<Order>('orders.dead', { prefetch: 100 })
      .pipe(whereDecoded())
      .subscribe({
        next: (letter) => void this.#letters.set(++this.#count, letter),
        error: (error) => console.error('the stream of dead orders has ended', error),
      });
  }

  get all(): readonly DeadOrder[] {
    return [...this.#letters].map(([letter, { payload: order, error, deaths }]) => {
      return { letter, order, error: error?.message, deaths };
    });
  }

  /** Publishes letters to where they came from, each as a new message. @returns how many */
  async redrive(numbers: readonly number[]): Promise<number> {
    let count = 0;
    for (const number of numbers) {
      const letter = this.#letters.get(number);
      if (letter === undefined) continue;
      this.#letters.delete(number); // so that another request does not redrive it as well
      try {
        await letter.redrive();
      } catch (error) {
        this.#letters.set(number, letter);
        throw error;
      }
      count++;
    }
    return count;
  }
}
