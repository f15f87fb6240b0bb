import type { ManagementHost } from '../host.js';
import { Problem } from '../http/reply.js';

/**
 * To be asked before something large is read that is to stay (decision 81).
 * @throws Problem 503 while the memory alarm is raised
 */
export function checkMemory({ alarms }: ManagementHost): void {
  if (alarms?.().includes('memory') !== true) return;
  throw new Problem(503, 'resource_alarm', 'low on memory: try again when the memory alarm is over', {
    'retry-after': '5',
  });
}
