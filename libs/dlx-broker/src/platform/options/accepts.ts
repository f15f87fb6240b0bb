import type { Field } from '../../engine/message/index.js';
import { parseDuration } from './units.js';
import { refused } from './refused.js';

/** Reads what a user wrote in a decorator or an option, or throws a DlxConfigurationError that names origin and value. */
export interface Accepts {
  /** For the table in the documentation. */
  readonly says: string;
  read(value: unknown, origin: string): Field;
}

export const text: Accepts = {
  says: 'text',
  read(value, origin) {
    if (typeof value !== 'string') throw refused(value, origin, 'is not a string');
    return { type: 'S', value };
  },
};

export const flag: Accepts = {
  says: 'true or false',
  read(value, origin) {
    if (typeof value !== 'boolean') throw refused(value, origin, 'is neither true nor false');
    return { type: 't', value };
  },
};

function boundsOf(least: number, most: number): string {
  if (most < Number.MAX_SAFE_INTEGER) return `whole number, ${least} to ${most}`;
  return least > Number.MIN_SAFE_INTEGER ? `whole number, at least ${least}` : 'whole number';
}

/**
 * What is wrong with a whole number that is written as a string, such as `'10'`; undefined for any other value, and for a number out of
 * bounds.
 */
export function numberInString(value: unknown, least: number, most = Number.MAX_SAFE_INTEGER): string | undefined {
  const number = typeof value === 'string' && /^\s*-?\d{1,15}\s*$/.test(value) ? Number(value) : NaN;
  return number >= least && number <= most ? `is a string; write the number ${number}` : undefined;
}

/** A whole number within bounds, both included. */
export const whole = (least: number, most: number): Accepts => ({
  says: boundsOf(least, most),
  read(value, origin) {
    if (typeof value !== 'number' || !Number.isInteger(value)) {
      throw refused(value, origin, numberInString(value, least, most) ?? 'is not a whole number');
    }
    if (value < least && most === Number.MAX_SAFE_INTEGER) throw refused(value, origin, `is less than ${least}`);
    if (value < least || value > most) throw refused(value, origin, `is not between ${least} and ${most}`);
    return integer(value);
  },
});

/** Milliseconds, or a string such as '30s' or '5 minutes'. */
export const duration = (least: number): Accepts => ({
  says: `duration, at least ${least} ms`,
  read(value, origin) {
    if (typeof value !== 'number' && typeof value !== 'string') {
      throw refused(value, origin, "is not a duration; write milliseconds or a string such as '30s' or '5 minutes'");
    }
    const milliseconds = parseDuration(value, origin);
    if (milliseconds < least) {
      const hint =
        typeof value === 'number' && value > 0 ? `; a number is milliseconds, write '${value}s' for seconds` : '';
      throw refused(value, origin, `is less than ${least} ms${hint}`);
    }
    return integer(milliseconds);
  },
});

export const oneOf = (...words: readonly string[]): Accepts => ({
  says: words.join(', '),
  read(value, origin) {
    if (typeof value !== 'string' || !words.includes(value)) {
      throw refused(value, origin, `is not one of ${words.join(', ')}`);
    }
    return { type: 'S', value };
  },
});

const integer = (value: number): Field => ({ type: Math.abs(value) > 0x7fff_ffff ? 'l' : 'I', value });
