import { notAPromise, refused } from '../../platform/options/index.js';
import type { Check } from '../module/check-options.js';

/** A function that gives the key of a message. */
export const isKey: Check = (value, origin) => {
  if (typeof value !== 'function') throw refused(value, origin, 'is not a function; write (order) => order.id');
};

/**
 * The text of what the key function of a decorator returned.
 * @param none what a message without a key has, for the error
 * @returns undefined for null: the message has no key
 * @throws TypeError for undefined, an empty string, NaN, and what is no string and no number: messages without a usable key would all have the
 *   same one. DlxConfigurationError for a promise
 */
export function textOfKey(answer: unknown, decorator: string, origin: string, none: string): string | undefined {
  const key = notAPromise(answer, `${decorator} on ${origin}: key`);
  if (key === null) return undefined;
  if (typeof key === 'string' && key !== '') return key;
  if (typeof key === 'bigint' || (typeof key === 'number' && Number.isFinite(key))) return String(key);
  throw new TypeError(
    `${decorator} on ${origin}: the key of a message is a string or a number, or null for ${none}, but this one is ${described(key)}`,
  );
}

function described(key: unknown): string {
  if (key === undefined) return 'undefined: is the name of the field misspelt?';
  if (key === '') return 'empty';
  if (typeof key === 'number') return String(key);
  return typeof key === 'object' ? 'an object' : `a ${typeof key}`;
}
