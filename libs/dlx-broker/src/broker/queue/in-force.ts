import type { Policy } from '../declarations.js';
import type { QueueSettings } from './arguments.js';

/** What holds for a queue, and the policies it comes from. */
export interface InForce {
  readonly settings: QueueSettings;
  readonly policy: Policy | undefined;
  readonly operatorPolicy: Policy | undefined;
}
