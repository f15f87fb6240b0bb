import type { Field, FieldTable } from '../../../engine/message/index.js';
import type { ExchangeDeclaration, QueueDeclaration } from '../../topology/index.js';
import type { TopologyDifference } from '../../errors.js';
import type { ExistingExchange, ExistingQueue } from './existing.js';

/** A comparison of what was asked with a queue or an exchange that exists. */
export interface Compared<T> {
  readonly differences: readonly TopologyDifference[];
  /** True if arguments differ where that is allowed. */
  readonly mayDiffer: boolean;
  /** A declaration that is equal to what exists. */
  readonly asItIs: T;
}

type Pair = readonly [property: string, existing: string, asked: string];

/** Compares all properties and arguments of a queue at once. */
export function comparedQueue(asked: QueueDeclaration, existing: ExistingQueue): Compared<QueueDeclaration> {
  const { name, origin, mayDiffer = [] } = asked;
  const pairs: readonly Pair[] = [
    ['durable', String(existing.durable), String(asked.durable)],
    ['exclusive', String(existing.exclusive), String(asked.exclusive)],
    ['auto-delete', String(existing.autoDelete), String(asked.autoDelete)],
    ...argumentPairs(existing.arguments, asked.arguments),
  ];
  const found = pairs.filter(differs);
  return {
    differences: found
      .filter(([property]) => !mayDiffer.includes(property))
      .map(([property, there, wanted]) => ({ kind: 'queue', name, origin, property, existing: there, asked: wanted })),
    mayDiffer: found.some(([property]) => mayDiffer.includes(property)),
    asItIs: { ...asked, ...existing },
  };
}

/** Compares an exchange. Of its arguments only the alternate exchange counts for a server. */
export function comparedExchange(
  asked: ExchangeDeclaration,
  existing: ExistingExchange,
): Compared<ExchangeDeclaration> {
  const { name, origin } = asked;
  const pairs: readonly Pair[] = [
    ['type', existing.type, asked.type],
    ['durable', String(existing.durable), String(asked.durable)],
    ['auto-delete', String(existing.autoDelete), String(asked.autoDelete)],
    ['internal', String(existing.internal), String(asked.internal)],
    ...argumentPairs(existing.arguments, asked.arguments).filter(([property]) => property === 'alternate-exchange'),
  ];
  const differences = pairs.filter(differs).map(([property, there, wanted]) => {
    return { kind: 'exchange', name, origin, property, existing: there, asked: wanted } as const;
  });
  return { differences, mayDiffer: false, asItIs: { ...asked, ...existing } };
}

const differs = ([, existing, asked]: Pair): boolean => existing !== asked;

/** A queue without a type is a classic one. */
const argumentPairs = (existing: FieldTable, asked: FieldTable): readonly Pair[] =>
  [...new Set([...asked.keys(), ...existing.keys()])]
    .map((name): Pair => [name, shownField(existing.get(name)), shownField(asked.get(name))])
    .filter(
      ([name, one, other]) =>
        name !== 'x-queue-type' || (one === 'none' ? classic : one) !== (other === 'none' ? classic : other),
    );

const classic = "'classic'";

/** An argument as errors show it: texts in quotes. Integers of all widths look alike, as they are to a server. */
export const shownField = (field: Field | undefined): string =>
  field === undefined ? 'none' : field.type === 'S' ? `'${field.value}'` : String(field.value);
