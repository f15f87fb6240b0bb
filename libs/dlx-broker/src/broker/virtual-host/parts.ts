import type { Access } from '../access/access.js';
import type { Scheduler } from '../scheduler/scheduler.js';
import type { Names } from '../ports.js';
import type { PolicyBook } from '../policy/policy-book.js';
import type { Profile } from '../profile.js';

/** What a virtual host gets from its broker. */
export interface VirtualHostParts {
  readonly scheduler: Scheduler;
  readonly access: Access;
  readonly names: Names;
  readonly profile: Profile;
  readonly policies: PolicyBook;
  readonly metadata: VirtualHostMetadata;
}

/** What people say about a virtual host; the broker makes nothing of it. */
export interface VirtualHostMetadata {
  readonly description: string;
  readonly tags: readonly string[];
}

export const noMetadata: VirtualHostMetadata = { description: '', tags: [] };
