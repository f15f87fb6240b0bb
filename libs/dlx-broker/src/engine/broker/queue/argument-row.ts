import type { DeathReason } from '../../message/index.js';
import type { QueueType } from '../declarations.js';
import type { Profile } from '../profile.js';
import type { Accepts } from './argument-values.js';

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

/** Which of two given values holds (rules F3, F4, D11). `limit`: the smaller, unless one is negative, which means no limit (rule W6). */
export type Merge = 'argument' | 'policy' | 'minimum' | 'maximum' | 'limit';

/** The values that applications may write for an argument in decorators and in options; durations in milliseconds. */
export type Written =
  | { readonly is: 'text' }
  | { readonly is: 'flag' }
  | { readonly is: 'duration'; readonly min: number }
  | { readonly is: 'whole'; readonly min: number; readonly max: number }
  | { readonly is: 'word'; readonly words: readonly string[] };

/** A queue argument, and the policy key that sets the same setting. */
export interface QueueArgument {
  readonly name: string;
  readonly accepts: Accepts;
  /**
   * The queue types that know it, each with the place at which a redeclare compares it (rule F10). The place decides which of
   * several differences is reported.
   */
  readonly on: { readonly [type in QueueType]?: number };
  /** The policy key that sets the same setting, if there is one (rules F1, F13, F14). */
  readonly policy?: PolicyKey;
  /** Whether an operator policy may set it too (rule F12). */
  readonly operator?: boolean;
  /** The name of the setting. An argument without a setting is accepted and has no effect here. */
  readonly setting?: string;
  readonly merge?: Merge | Readonly<Record<QueueType, Merge>>;
  /** Which value holds of a user's and an operator's policy; default: the smaller. `policy` means the operator's. */
  readonly operatorMerge?: Merge;
  /** True if RabbitMQ 3.10 does not know the argument. */
  readonly isNewIn43?: true;
  /** What RabbitMQ 4.3 accepts otherwise: other values, and a further queue type. */
  readonly since43?: { readonly accepts?: Accepts; readonly on?: QueueType };
  /** How applications write it in options. Without this, they can set the argument only by its name. */
  readonly written?: Written;
  /** The reason for which messages die in a queue by this argument alone. */
  readonly kills?: DeathReason;
  /** Its values, for docs/reference/arguments.md; an argument without effect needs none. */
  readonly says?: string;
}
