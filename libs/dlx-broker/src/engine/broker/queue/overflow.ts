/** What a full queue does when a message arrives (rules C3 to C9). A new policy is a new row. */
export const overflowPolicies = {
  'drop-head': {
    refuses: false,
    deadLettersRefused: false,
    onQuorum: 'drop-head',
    says: 'the oldest message dies (`maxlen`); this is the default',
  },
  'reject-publish': {
    refuses: true,
    deadLettersRefused: false,
    onQuorum: 'reject-publish',
    says: 'the queue refuses the new message: the publisher gets a nack, `emit` fails',
  },
  'reject-publish-dlx': {
    refuses: true,
    deadLettersRefused: true,
    onQuorum: 'drop-head',
    says: 'the same, and the new message is dead-lettered (`maxlen`); not for quorum queues',
  },
} as const satisfies Readonly<Record<string, OverflowPolicy>>;

interface OverflowPolicy {
  /** Whether the queue refuses the message; otherwise it drops its head. */
  readonly refuses: boolean;
  /** Whether a message that is refused dies (rule C8). */
  readonly deadLettersRefused: boolean;
  /** The policy by which a quorum queue with this one acts (rule D7). */
  readonly onQuorum: string;
  /** For docs/guide/limits.md. */
  readonly says: string;
}

/** The name of an overflow policy: a value of `x-overflow`. */
export type Overflow = keyof typeof overflowPolicies;

export const overflowNames = Object.keys(overflowPolicies) as readonly Overflow[];

/** Whether a full queue with this `x-overflow` refuses messages. Undefined is the default. */
export const refusesWhenFull = (overflow: unknown = 'drop-head'): boolean =>
  overflowNames.some((name) => name === overflow && overflowPolicies[name].refuses);

export interface LengthLimits {
  readonly maxLength: number | undefined;
  readonly maxLengthBytes: number | undefined;
}

export const isBounded = ({ maxLength, maxLengthBytes }: LengthLimits): boolean =>
  maxLength !== undefined || maxLengthBytes !== undefined;

/** Over the limit as soon as one is exceeded (rule C1). */
export const exceeds = ({ maxLength, maxLengthBytes }: LengthLimits, length: number, bytes: number): boolean =>
  (maxLength !== undefined && length > maxLength) || (maxLengthBytes !== undefined && bytes > maxLengthBytes);

/** A quorum queue that refuses publishes accepts them again when it has no more than four fifths of its limits (rule D7). */
const acceptsAgainAt = 0.8;

/** The limits within which a quorum queue accepts publishes again. */
export const loweredLimits = ({ maxLength, maxLengthBytes }: LengthLimits): LengthLimits => ({
  maxLength: maxLength === undefined ? undefined : Math.floor(maxLength * acceptsAgainAt),
  maxLengthBytes: maxLengthBytes === undefined ? undefined : Math.floor(maxLengthBytes * acceptsAgainAt),
});
