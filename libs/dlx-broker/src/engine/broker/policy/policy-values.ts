import type { Profile } from '../profile.js';
import type { QueueType } from '../declarations.js';

/** A key of the definition of a policy. */
export interface PolicyKey {
  readonly name: string;
  /** The text after the value in its refusal (rule F13). */
  readonly refusal: string;
  /** The queue types to which a policy with the key applies. Default: those of the argument (rule F8). */
  readonly on?: readonly QueueType[];
  accepts(value: unknown, profile: Profile): boolean;
}

type Check = PolicyKey['accepts'];

export const natural: Check = (value) => Number.isInteger(value) && (value as number) >= 0;
export const positive: Check = (value) => Number.isInteger(value) && (value as number) > 0;
export const text: Check = (value) => typeof value === 'string';
export const anything: Check = () => true;
export const oneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);

/** An integer; negative ones only where they mean no limit (rule W6). */
export const limit: Check = (value, profile) =>
  profile.negativeLimitIsNone ? Number.isInteger(value) : natural(value, profile);

/** @param what the name of the expected value in the refusal of RabbitMQ */
export const key = (name: string, accepts: Check, what: string, on?: readonly QueueType[]): PolicyKey => ({
  name,
  accepts,
  refusal: `is not a valid ${what}`,
  ...(on !== undefined && { on }),
});
