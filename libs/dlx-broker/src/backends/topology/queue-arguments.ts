import { type argumentRows, queueArguments as known, type Written } from '../../engine/broker/index.js';
import type { Field, FieldTable } from '../../engine/message/index.js';
import {
  type Accepts,
  DlxConfigurationError,
  duration,
  flag,
  oneOf,
  refused,
  text,
  whole,
} from '../../platform/options/index.js';
import { sameField, showField } from './topology.js';

/** The names of the arguments that have an option or decorator of their own. */
export type WrittenArgument = Extract<(typeof argumentRows)[number], { readonly written: Written }>['name'];

function acceptsOf(written: Written): Accepts {
  switch (written.is) {
    case 'text':
      return text;
    case 'flag':
      return flag;
    case 'duration':
      return duration(written.min);
    case 'whole':
      return whole(written.min, written.max);
    case 'word':
      return oneOf(...written.words);
  }
}

/** The accepted values of the queue arguments that have an option or decorator of their own. */
export const queueArguments = Object.fromEntries(
  known.flatMap(({ name, written }) => (written === undefined ? [] : [[name, acceptsOf(written)]])),
) as Readonly<Record<WrittenArgument, Accepts>>;

/** The options of a queue that are one argument each, or a member of the option is. A decorator has the name of its option: `@Ttl`. */
export const queueOptions: readonly (readonly [option: string, argument: WrittenArgument, member?: string])[] = [
  ['ttl', 'x-message-ttl'],
  ['expires', 'x-expires'],
  ['maxLength', 'x-max-length'],
  ['maxLengthBytes', 'x-max-length-bytes'],
  ['overflow', 'x-overflow'],
  ['deadLetter', 'x-dead-letter-exchange', 'exchange'],
  ['deadLetter', 'x-dead-letter-routing-key', 'routingKey'],
  ['deadLetter', 'x-dead-letter-strategy', 'strategy'],
  ['quorum', 'x-delivery-limit', 'deliveryLimit'],
  ['maxPriority', 'x-max-priority'],
  ['singleActiveConsumer', 'x-single-active-consumer'],
];

/** The arguments by which messages die in a queue although no consumer rejects them. */
export const killingArguments: readonly string[] = known
  .filter(({ kills }) => kills !== undefined)
  .map(({ name }) => name);

/** Adds an argument. @throws DlxConfigurationError when the table has the argument with another value */
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
 * Checks the dead-letter strategy. At-least-once works on quorum queues with overflow `reject-publish` only; elsewhere the broker
 * falls back to at-most-once without an error (rule M1).
 * @param quorum the remedy for a queue that is no quorum queue: `@Quorum() beside it`
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
