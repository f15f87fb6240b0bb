import { erlangTerm, latin1 } from '../erlang-terms.js';
import type { Field } from '../../message/index.js';

/** A value by which headers are compared; equal values have the same key. */
export type HeaderKey = string | number | bigint | boolean;

/**
 * RabbitMQ compares the bare values (rule P8): numbers of all types, timestamps among them, and text with bytes. A
 * structure never equals a plain value, so callers compare {@link isStructure} as well.
 */
export function headerKey(field: Field): HeaderKey {
  switch (field.type) {
    case 't':
    case 'S':
      return field.value;
    case 'x':
      return latin1(field.value);
    case 'A':
    case 'F':
    case 'D':
    case 'V':
      return `${field.type}${erlangTerm(field)}`;
    default:
      return typeof field.value === 'bigint' ? plainNumber(field.value) : field.value;
  }
}

export const isStructure = (field: Field): boolean =>
  field.type === 'A' || field.type === 'F' || field.type === 'D' || field.type === 'V';

/** The number that a double may equal, if there is one. */
function plainNumber(value: bigint): number | bigint {
  const number = Number(value);
  return BigInt(number) === value ? number : value;
}
