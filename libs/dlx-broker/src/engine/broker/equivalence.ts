import type { AmqpError } from './errors.js';
import { preconditionFailed } from './errors.js';
import { erlangTerm, fieldText } from './erlang-terms.js';
import { fieldTypeNames, integerOf } from '../message/index.js';
import type { Field } from '../message/index.js';

/**
 * Checks that a redeclare has the same property as the existing thing.
 * @param where `queue 'Q' in vhost 'V'`
 * @throws 406
 */
export function checkSameProperty(
  name: string,
  current: boolean | string,
  received: boolean | string,
  where: string,
): void {
  if (current !== received) throw inequivalent(name, `'${received}'`, `'${current}'`, where);
}

/** Checks the same of an argument. Integers of all wire types are interchangeable (rules F10, F11). @throws 406 */
export function checkSameArgument(
  name: string,
  current: Field | undefined,
  received: Field | undefined,
  where: string,
): void {
  if (isEquivalent(current, received)) return;
  const bothGiven = current !== undefined && received !== undefined;
  const show = bothGiven ? bareValue : typedValue;
  throw inequivalent(name, show(received), show(current), where);
}

function isEquivalent(one: Field | undefined, other: Field | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  const number = integerOf(one);
  if (number !== undefined) return number == integerOf(other); // == because either may be a bigint
  if (isBytes(one) && isBytes(other)) return erlangTerm(one) === erlangTerm(other);
  return one.type === other.type && erlangTerm(one) === erlangTerm(other);
}

/** RabbitMQ compares text and bytes as one type. */
const isBytes = (field: Field): boolean => field.type === 'S' || field.type === 'x';

const bareValue = (field: Field | undefined): string =>
  field === undefined || field.type === 'V' ? 'none' : `'${fieldText(field)}'`;

const typedValue = (field: Field | undefined): string =>
  field === undefined ? 'none' : `the value '${fieldText(field)}' of type '${fieldTypeNames[field.type]}'`;

const inequivalent = (name: string, received: string, current: string, where: string): AmqpError =>
  preconditionFailed(`inequivalent arg '${name}' for ${where}: received ${received} but current is ${current}`);
