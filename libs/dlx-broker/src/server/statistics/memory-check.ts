import type { ManagementHost } from '../host.js';
import { Problem } from '../http/reply.js';

/**
 * Refuses a request that would bring in much to keep, while memory is short (decision 81).
 * @throws Problem 503 during the memory alarm
 */
export function checkMemory({ alarms }: ManagementHost): void {
  if (alarms?.().includes('memory') !== true) return;
  throw new Problem(503, 'resource_alarm', 'low on memory: try again when the memory alarm is over', {
    'retry-after': '5',
  });
}
