/** A shop before and after its migration: the same from outside. */
export interface Shop {
  /** What the handlers have done, in order. */
  readonly log: readonly string[];
  /** Asks for a price. */
  price(quantity: number): Promise<number>;
  /** Publishes an order. Order 8 fails always, order 9 at its first attempt. */
  order(id: number, tenant: string): Promise<unknown>;
  close(): Promise<unknown>;
}

/** A service of mails before and after its migration. */
export interface Mails {
  readonly log: readonly string[];
  /** Sends a mail: to `away` it fails always, to `busy` at the first two attempts, to `wrong` for good. */
  send(to: string, delay?: number): Promise<unknown>;
  /** The receivers of mails that failed. */
  failed(): Promise<readonly string[]>;
  /** Sends the failed mails to one receiver again. */
  again(): Promise<unknown>;
  close(): Promise<unknown>;
}
