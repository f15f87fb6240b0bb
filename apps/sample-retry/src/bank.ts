import { Injectable } from '@nestjs/common';

export interface Payment {
  readonly id: string;
  readonly amount: number;
  readonly currency: string;
}

export class BankTimeout extends Error {}
export class UnknownCurrency extends Error {}

/** A bank on a bad day: it is slow for `pay-2`, and until it is fixed it chokes on a currency. */
@Injectable()
export class Bank {
  readonly #currencies = new Set(['EUR', 'USD']);
  #timeoutsLeft = 2;

  /** @throws BankTimeout, which passes by itself, or UnknownCurrency, which does not */
  async transfer({ id, currency }: Payment): Promise<void> {
    if (id === 'pay-2' && this.#timeoutsLeft-- > 0) throw new BankTimeout('no answer');
    if (!this.#currencies.has(currency)) throw new UnknownCurrency(currency);
  }

  /** What in real life would be a bug fix and a deployment. */
  fix(currency: string): void {
    this.#currencies.add(currency);
  }
}
