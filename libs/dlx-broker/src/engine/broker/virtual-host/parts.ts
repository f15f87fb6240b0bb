import type { Access } from '../access/access.js';
import type { VirtualHostMetadata } from '../declarations.js';
import type { Deque } from '../deque.js';
import type { PendingLetter } from '../queue/dead-lettering.js';
import type { Packer } from '../queue/packer.js';
import type { Stalls } from '../queue/stall.js';
import type { Scheduler } from '../scheduler/scheduler.js';
import type { Names } from '../ports.js';
import type { PolicyBook } from '../policy/policy-book.js';
import type { Profile } from '../profile.js';

/** What a virtual host gets from its broker. */
export interface VirtualHostParts {
  readonly scheduler: Scheduler;
  readonly dead: Deque<PendingLetter>;
  readonly stalls: Stalls;
  readonly packer: Packer | undefined;
  readonly access: Access;
  readonly names: Names;
  readonly profile: Profile;
  /** How long a delivery may stay unacknowledged, in milliseconds; Infinity for ever (rule Q8). */
  readonly consumerTimeout: number;
  /** When an at-least-once dead letter that did not arrive is published again, in milliseconds (rule M3). */
  readonly deadLetterRetryAfter: number;
  readonly policies: PolicyBook;
  readonly metadata: VirtualHostMetadata;
}
