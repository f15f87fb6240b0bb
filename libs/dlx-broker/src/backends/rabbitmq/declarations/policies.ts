import type { Patterns } from '../../../engine/broker/index.js';
import type { FieldTable } from '../../../engine/message/index.js';
import type { QueueDeclaration } from '../../topology/index.js';

/** A policy, or an operator policy, as the management API shows it. */
export interface ShownPolicy {
  readonly name: string;
  readonly pattern: string;
  readonly 'apply-to': string;
  readonly priority: number;
  readonly definition: Readonly<Record<string, unknown>>;
  readonly isOperator: boolean;
}

/** A key of a policy that changes what a queue needs. */
export interface PolicyConflict {
  readonly policy: ShownPolicy;
  readonly key: string;
  readonly value: unknown;
  /** The argument of the declaration, as text; `none` when it has none. */
  readonly asked: string;
  /** What comes of it. */
  readonly effect: string;
}

/** Of a number in an argument and one in a policy the lower counts. */
const lowered: Readonly<Record<string, string>> = {
  'delivery-limit': 'messages leave the queue after fewer deliveries',
  'message-ttl': 'messages expire earlier',
  expires: 'the queue is deleted earlier',
  'max-length': 'the queue takes fewer messages',
  'max-length-bytes': 'the queue takes fewer bytes',
};

/**
 * Finds what the policies of a virtual host do to a queue that its declaration does not want: numbers below the declared ones, the
 * deletion of a queue that may be unused, messages that vanish without a dead-letter exchange, another way back out of a wait queue.
 * Limits of a queue that dead-letters are no conflict: they are what policies are for.
 */
export function policyConflicts(
  queue: QueueDeclaration,
  policies: readonly ShownPolicy[],
  patterns: Patterns,
): readonly PolicyConflict[] {
  const applied = [false, true].flatMap((isOperator) => strongest(queue, policies, isOperator, patterns) ?? []);
  return applied.flatMap((policy) =>
    Object.entries(policy.definition).flatMap(([key, value]) => {
      const effect = effectOf(queue.arguments, policy.definition, key, value);
      return effect === undefined ? [] : [{ policy, key, value, asked: shown(queue.arguments, key), effect }];
    }),
  );
}

/** One policy of each kind applies: the one with the highest priority. */
function strongest(
  { name, arguments: args }: QueueDeclaration,
  policies: readonly ShownPolicy[],
  isOperator: boolean,
  patterns: Patterns,
): ShownPolicy | undefined {
  const type = textOf(args, 'x-queue-type') ?? 'classic';
  const places = new Set(['all', 'queues', `${type}_queues`]);
  let best: ShownPolicy | undefined;
  for (const policy of policies) {
    if (policy.isOperator !== isOperator || !places.has(policy['apply-to'])) continue;
    if (type === 'classic' && Object.keys(policy.definition).some((key) => quorumKeys.has(key))) continue;
    if (best !== undefined && best.priority >= policy.priority) continue;
    if (matches(patterns, policy.pattern, name)) best = policy;
  }
  return best;
}

/** A policy with one of these keys does not apply to classic queues at all. */
const quorumKeys: ReadonlySet<string> = new Set(['delivery-limit', 'dead-letter-strategy', 'max-in-memory-length']);

function matches(patterns: Patterns, pattern: string, name: string): boolean {
  try {
    return patterns.compile(pattern).matches(name);
  } catch {
    return false; // a pattern that only the server's engine understands
  }
}

function effectOf(
  args: FieldTable,
  definition: ShownPolicy['definition'],
  key: string,
  value: unknown,
): string | undefined {
  const asked = args.get(`x-${key}`)?.value;
  const isLower = typeof value === 'number' && asked !== undefined && value < Number(asked);
  if (isLower && lowered[key] !== undefined) return lowered[key];
  if (asked !== undefined) return undefined;
  const isDying = args.has('x-dead-letter-exchange') || definition['dead-letter-exchange'] !== undefined;
  const isWaiting = args.has('x-message-ttl') && args.has('x-dead-letter-exchange');
  switch (key) {
    case 'expires':
      return 'the queue is deleted with its messages when it is unused';
    case 'message-ttl':
      return isDying ? undefined : 'messages vanish when they expire, because the queue has no dead-letter exchange';
    case 'max-length':
    case 'max-length-bytes':
      if (isRefusing(args, definition)) return undefined;
      if (isWaiting) return 'messages that wait are dead-lettered before their time';
      return isDying ? undefined : 'messages vanish when the queue is full, because it has no dead-letter exchange';
    case 'dead-letter-routing-key':
      return isWaiting ? 'messages do not return to the queue from which they came' : undefined;
    case 'overflow':
      if (textOf(args, 'x-dead-letter-strategy') !== 'at-least-once' || value === 'reject-publish') return undefined;
      return 'dead letters may be lost, because at-least-once needs reject-publish';
    default:
      return undefined;
  }
}

/** True if a full queue refuses messages, so that none vanishes. */
const isRefusing = (args: FieldTable, definition: ShownPolicy['definition']): boolean =>
  String(textOf(args, 'x-overflow') ?? definition['overflow']).startsWith('reject-publish');

const textOf = (args: FieldTable, name: string): string | undefined => {
  const field = args.get(name);
  return field?.type === 'S' ? field.value : undefined;
};

const shown = (args: FieldTable, key: string): string => {
  const field = args.get(`x-${key}`);
  return field === undefined ? 'none' : String(field.value);
};
