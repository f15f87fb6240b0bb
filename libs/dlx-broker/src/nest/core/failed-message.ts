import { attemptOf } from '../../platform/history/index.js';
import type { Failed, Taken } from './handler.js';

/** The number of the attempt that failed. */
export const attemptBy = ({ delivery }: Taken): number => attemptOf(delivery.message, delivery.queue);

/** Sends the error to the client of a request, and then settles the message. */
export function answer({ handling, filtered }: Failed, settled: () => void): void {
  if (handling?.replies === undefined) settled();
  else handling.replies.error(filtered, settled);
}
