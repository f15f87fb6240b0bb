import type { Field, FieldTable } from '../message/index.js';
import { duration, flag, oneOf, text, whole } from './accepts.js';
import { DlxConfigurationError } from './configuration-error.js';
import { sameField, showField } from './field.js';
import { refused } from './refused.js';

const any = Number.MAX_SAFE_INTEGER;

/** What users may write for the queue arguments that have a word of their own, in decorators and in options. */
export const queueArguments = {
  'x-message-ttl': duration(0),
  'x-expires': duration(1),
  'x-max-length': whole(0, any),
  'x-max-length-bytes': whole(0, any),
  'x-overflow': oneOf('drop-head', 'reject-publish', 'reject-publish-dlx'),
  'x-dead-letter-exchange': text,
  'x-dead-letter-routing-key': text,
  'x-dead-letter-strategy': oneOf('at-most-once', 'at-least-once'),
  'x-queue-type': oneOf('quorum'),
  'x-delivery-limit': whole(0, any),
  'x-max-priority': whole(1, 255),
  'x-single-active-consumer': flag,
} as const;

/** @throws DlxConfigurationError when another value of the same argument is there already */
export function putArgument(into: Map<string, Field>, name: string, field: Field, origin: string, other: string): void {
  const there = into.get(name);
  if (there !== undefined && !sameField(there, field)) {
    throw new DlxConfigurationError(
      `${origin}: ${name} is ${showField(field)} here and ${showField(there)} in ${other}`,
    );
  }
  into.set(name, field);
}

/**
 * Rule M1: at-least-once works on quorum queues that reject publishes, and silently falls back anywhere else.
 * @param quorum how a quorum queue is asked for where the strategy is written: `@Quorum() beside it`
 * @returns the same arguments, with the overflow that the strategy needs
 * @throws DlxConfigurationError
 */
export function withSafeStrategy(args: Map<string, Field>, origin: string, quorum: string): FieldTable {
  if (args.get('x-dead-letter-strategy')?.value !== 'at-least-once') return args;
  if (args.get('x-queue-type')?.value !== 'quorum') throw refused('at-least-once', origin, `needs ${quorum}`);
  const overflow = args.get('x-overflow');
  if (overflow === undefined) return new Map(args).set('x-overflow', { type: 'S', value: 'reject-publish' });
  if (overflow.value === 'reject-publish') return args;
  throw refused('at-least-once', origin, `needs overflow 'reject-publish', and it is '${showField(overflow)}'`);
}
