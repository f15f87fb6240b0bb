import { defaultErrors, mostErrors } from '../../../platform/history/index.js';
import { refused, whole } from '../../../platform/options/index.js';
import type { Check } from '../../module/check-options.js';
import type { DlxContext } from '../../core/context.js';

/**
 * Groups similar failures: returns a string of 1 to 128 characters that is the same for failures of the same cause. It is called when a
 * message is parked or rejected.
 * @param error as the handler threw it
 */
export type FingerprintFunction = (error: unknown, context: DlxContext) => string;

/** The first and the last error are always kept, so a history has at least two entries. */
export const isErrorHistory: Check = (value, origin) => {
  if (value === 0) return;
  if (value === 1)
    throw refused(value, origin, 'is too small: the first and the last error are kept; write 0 for none');
  whole(0, mostErrors).read(value, origin);
};

/** @param hasErrorHeaders false: errors are in no header, so there is no history unless it is asked for */
export const errorsKept = (option: number | undefined, hasErrorHeaders: boolean): number =>
  option ?? (hasErrorHeaders ? defaultErrors : 0);
