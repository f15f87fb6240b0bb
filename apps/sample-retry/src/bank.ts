import { Injectable } from '@nestjs/common';

export interface Payment {
  readonly id: string;
  readonly amount: number;
  readonly currency: string;
}

export class BankTimeout extends Error {}
export class BankAway extends Error {}
export class UnknownCurrency extends Error {}

/** A bank with faults: it is slow for `pay-2`, away for `pay-4`, and does not know a currency until it is fixed. */
@Injectable()
export class Bank {
  readonly #currencies = new Set(['EUR', 'USD']);
  #timeoutsLeft = 2;
  #outagesLeft = 1;

  /** @throws BankTimeout and BankAway, where time helps; UnknownCurrency, where it does not */
  async transfer({ id, currency }: Payment): Promise<void> {
    if (id === 'pay-2' && this.#timeoutsLeft-- > 0) throw new BankTimeout('no answer');
    if (id === 'pay-4' && this.#outagesLeft-- > 0) throw new BankAway('closed for a moment');
    if (!this.#currencies.has(currency)) throw new UnknownCurrency(currency);
  }

  /** Fixes the bank, as a deployment would. */
  fix(currency: string): void {
    this.#currencies.add(currency);
  }
}
