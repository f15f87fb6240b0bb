import { grantedAttempt } from '../../platform/history/index.js';
import type { DlxContext } from './context.js';
import type { PlannedHandler } from './handler.js';

/**
 * True if the attempts of a message are used up, by its headers. A stream may have granted one more attempt.
 */
export function isSpent({ retry }: PlannedHandler, context: DlxContext): boolean {
  if (retry === undefined) return false;
  const { attempt } = context; // calculated from the headers
  return attempt > retry.attempts && attempt > grantedAttempt(context.message, context.queue);
}
