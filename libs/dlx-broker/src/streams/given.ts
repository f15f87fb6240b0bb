import type { Address } from '../message/index.js';

import { optionsOf, parseDuration, refused, refuseUnknown } from '../options/index.js';

/*
 * What an application gives to streams, checked: a mistake is an error where it stands, with a remedy, and not a letter
 * that is settled otherwise than was meant.
 */

/** @throws DlxConfigurationError unless it is a function. @param remedy what to write instead: `(letter) => true` */
export function checkFunction(value: unknown, origin: string, remedy: string): void {
  if (typeof value !== 'function') throw refused(value, origin, `is not a function; write ${remedy}`);
}

/** @throws DlxConfigurationError unless it is a text with at least one character */
export function queueOf(value: unknown, origin: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw refused(value, origin, "is not the name of a queue; write a text such as 'orders.parked'");
}

/**
 * Where a redrive goes: a queue, or an exchange and a routing key; undefined is where the letter came from.
 * @throws DlxConfigurationError for anything else
 */
export function targetOf(value: unknown, origin: string): Address | string | undefined {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value;
  const { exchange, routingKey } = (value ?? {}) as Partial<Address>;
  if (typeof exchange === 'string' && typeof routingKey === 'string') return value as Address;
  const remedy = "write the name of a queue, or { exchange: 'shop', routingKey: 'order.created' }";
  throw refused(value, origin, `is no target; ${remedy}, or leave it out for where the letter was published`);
}

/** How long an asynchronous function of the application may take. */
export interface WithinOption {
  /**
   * How long a promise that the function answers may stay unsettled before the stream fails with a
   * {@link CallbackTimeoutError}: milliseconds or a text. Default `'1m'`; false: for ever.
   */
  readonly within?: number | string | false;
}

/** @returns milliseconds; undefined for no limit. @throws DlxConfigurationError for no duration, and for 0 */
export function withinOf({ within = '1m' }: WithinOption, origin: string): number | undefined {
  if (within === false) return undefined;
  const milliseconds = parseDuration(within, `${origin}: within`);
  if (milliseconds > 0) return milliseconds;
  throw refused(within, `${origin}: within`, "is no time at all; write '1m', or false for no limit");
}

/**
 * @throws DlxConfigurationError for what is no object, and for a name that is not known, with the list of those that
 * are
 */
export function checkOptions(options: unknown, known: readonly string[], origin: string, remedy: string): void {
  refuseUnknown(optionsOf(options, origin, remedy), known, origin);
}
