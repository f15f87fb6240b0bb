import type { Queue } from '../../../broker/index.js';

/** The pause of a queue in answers; null while it is not paused. Times are milliseconds since 1970. */
export function pauseToJson({ pausing: { state } }: Queue): object | null {
  if (state === undefined) return null;
  const { reason, by = null, since, until = null } = state;
  return { reason, by, since, until };
}
