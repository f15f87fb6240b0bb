import type { QueueSettings } from './settings.js';

/** What a full queue does with one message more (rules C3 to C9). A new policy is a new row. */
export const overflowPolicies = {
  'drop-head': { refuses: false, deadLettersRefused: false },
  'reject-publish': { refuses: true, deadLettersRefused: false },
  'reject-publish-dlx': { refuses: true, deadLettersRefused: true },
} as const;

export type Overflow = keyof typeof overflowPolicies;

export const overflowNames = Object.keys(overflowPolicies) as readonly Overflow[];

/** Whether a text from the wire or a policy names one; `constructor` does not. */
export const isOverflow = (name: unknown): name is Overflow => overflowNames.includes(name as Overflow);

export const isBounded = ({ maxLength, maxLengthBytes }: QueueSettings): boolean =>
  maxLength !== undefined || maxLengthBytes !== undefined;

/** Over the limit as soon as one is exceeded (rule C1). */
export const exceeds = ({ maxLength, maxLengthBytes }: QueueSettings, length: number, bytes: number): boolean =>
  (maxLength !== undefined && length > maxLength) || (maxLengthBytes !== undefined && bytes > maxLengthBytes);
