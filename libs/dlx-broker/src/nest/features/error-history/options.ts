import { defaultErrors, mostErrors } from '../../../platform/history/index.js';
import { optionsOf, refused, whole } from '../../../platform/options/index.js';
import { optionIn, type Reader } from '../../module/check-options.js';
import type { DlxContext } from '../../core/context.js';

/**
 * Groups similar failures: returns a string of 1 to 128 characters that is the same for failures of the same cause. It is called when a
 * message is parked or rejected.
 * @param error as the handler threw it
 */
export type FingerprintFunction = (error: unknown, context: DlxContext) => string;

/** The most characters of an error in the headers of a rejected message. */
export interface ErrorHeaderOptions {
  /** Characters of the stack; 0 leaves it out. Default 2048. */
  readonly stack?: number;
  /** Characters of the message. Default 1024. */
  readonly message?: number;
}

/** @returns undefined for no headers of errors */
export const readErrorHeaders: Reader<Required<ErrorHeaderOptions> | undefined> = (value = true, origin) => {
  if (value === false) return undefined;
  const given = value === true ? {} : value;
  const remedy = 'write true, false or { stack: 0 }';
  const { stack = 2048, message = 1024 } = optionsOf<ErrorHeaderOptions>(given, origin, remedy, ['stack', 'message']);
  whole(0, 65_536).read(stack, optionIn(origin, 'stack'));
  whole(0, 65_536).read(message, optionIn(origin, 'message'));
  return { stack, message };
};

/**
 * The number of errors that a message keeps. The first and the last one are always kept, so a history has at least two entries. Without
 * headers of errors there is none unless it is asked for.
 */
export const readErrorHistory: Reader<number> = (value, origin, { errorHeaders } = {}) => {
  if (value === undefined) return errorHeaders === false ? 0 : defaultErrors;
  if (value === 0) return 0;
  if (value === 1)
    throw refused(value, origin, 'is too small: the first and the last error are kept; write 0 for none');
  return whole(0, mostErrors).read(value, origin).value as number;
};
