import type { Profile } from '../profile.js';
import type { QueueType } from '../declarations.js';

/** A key of a policy's definition. */
export interface PolicyKey {
  readonly name: string;
  /** What stands after the value when it is refused (rule F13). */
  readonly refusal: string;
  /** The queue types to which a policy with the key applies, where they are not the types of the argument (rule F8). */
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

/** Rule W6: where a negative limit is none, any whole number is one. */
export const limit: Check = (value, profile) =>
  profile.negativeLimitIsNone ? Number.isInteger(value) : natural(value, profile);

/** @param what names the value in RabbitMQ's refusal of another one */
export const key = (name: string, accepts: Check, what: string, on?: readonly QueueType[]): PolicyKey => ({
  name,
  accepts,
  refusal: `is not a valid ${what}`,
  ...(on !== undefined && { on }),
});
