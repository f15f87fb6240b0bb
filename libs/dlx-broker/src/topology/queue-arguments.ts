import { type argumentRows, queueArguments as known, type Written } from '../broker/index.js';
import type { Field, FieldTable } from '../message/index.js';
import { type Accepts, duration, flag, oneOf, text, whole, DlxConfigurationError, refused } from '../options/index.js';
import { sameField, showField } from './same-field.js';

/** The names of the arguments that users may write by a word of their own. */
export type WrittenArgument = Extract<(typeof argumentRows)[number], { readonly written: Written }>['name'];

function acceptsOf(written: Written): Accepts {
  switch (written.is) {
    case 'text':
      return text;
    case 'flag':
      return flag;
    case 'duration':
      return duration(written.least);
    case 'whole':
      return whole(written.least, written.most);
    case 'word':
      return oneOf(...written.words);
  }
}

/** What users may write for the queue arguments that have a word of their own, in decorators and in options. */
export const queueArguments = Object.fromEntries(
  known.flatMap(({ name, written }) => (written === undefined ? [] : [[name, acceptsOf(written)]])),
) as Readonly<Record<WrittenArgument, Accepts>>;

/** The arguments by which messages die in a queue although no consumer rejects them. */
export const killingArguments: readonly string[] = known
  .filter(({ kills }) => kills !== undefined)
  .map(({ name }) => name);

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
