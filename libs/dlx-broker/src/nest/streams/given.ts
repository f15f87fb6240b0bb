import { isObservable } from 'rxjs';
import type { Address } from '../../engine/message/index.js';

import { DlxConfigurationError, parseDuration, refused } from '../../platform/options/index.js';

/*
 * Checks of what an application gives to streams. A mistake is an error at the place where it is made, with a remedy.
 */

/** Where to redrive a letter: a queue, an exchange and a routing key, or undefined for its origin. */
export type RedriveTarget = Address | string | undefined;

/** @throws DlxConfigurationError unless it is a function. @param remedy what to write instead: `(letter) => true` */
export function checkFunction(value: unknown, origin: string, remedy: string): void {
  if (typeof value !== 'function') throw refused(value, origin, `is not a function; write ${remedy}`);
}

/** @throws DlxConfigurationError for an operator without parentheses: `pipe` gives it the stream in place of its parameter */
export function refuseBareOperator(operator: string, given: unknown): void {
  if (!isObservable(given)) return;
  throw new DlxConfigurationError(`${operator} has no parentheses; write pipe(${operator}())`);
}

/** @throws DlxConfigurationError unless it is a string with at least one character */
export function queueOf(value: unknown, origin: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw refused(value, origin, "is not the name of a queue; write a string such as 'orders.parked'");
}

/**
 * The target of a redrive: a queue, or an exchange and a routing key; undefined is the origin of the letter.
 * @throws DlxConfigurationError for anything else
 */
export function targetOf(value: unknown, origin: string): RedriveTarget {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value;
  const { exchange, routingKey } = (value ?? {}) as Partial<Address>;
  if (typeof exchange === 'string' && typeof routingKey === 'string') return value as Address;
  const remedy = "write the name of a queue, or { exchange: 'shop', routingKey: 'order.created' }";
  throw refused(value, origin, `is no target; ${remedy}, or leave it out for where the letter was published`);
}

/** How long an asynchronous function of the application may take. */
export interface WithinOption {
  /**
   * How long a promise that the function returns may stay unsettled before the stream fails with a
   * {@link CallbackTimeoutError}: milliseconds or a string. Default `'1m'`; false: for ever.
   */
  readonly within?: number | string | false;
}

/** @returns milliseconds; undefined for no limit. @throws DlxConfigurationError for 0, and for a value that is no duration */
export function withinOf({ within = '1m' }: WithinOption, origin: string): number | undefined {
  if (within === false) return undefined;
  const milliseconds = parseDuration(within, `${origin}: within`);
  if (milliseconds > 0) return milliseconds;
  throw refused(within, `${origin}: within`, "is no time at all; write '1m', or false for no limit");
}
