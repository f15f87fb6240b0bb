import {
  ByteWriter,
  type Field,
  type FieldTable,
  fieldTypeNames,
  isShortstr,
  maxNesting,
  maxShortstrBytes,
  writeTable,
} from '../../../engine/message/index.js';
import { bytesOfBase64 } from '../../http/body.js';
import { badRequest, type Problem } from '../../http/reply.js';
import { objectEntries, onlyKnown } from '../input.js';

/** The most values of the headers, nested ones counted: they are converted in one turn. */
const mostValues = 32_768;

/** The most bytes of the headers as a table of AMQP. RabbitMQ's clients accept no larger frame by default. */
const mostBytes = 131_072;

/** The number of values that may still be converted. */
interface Budget {
  left: number;
}

/** Reads the JSON value of one type. @param at the name of the field, for errors */
type Reader = (value: unknown, at: string, depth: number, budget: Budget) => Field;

/**
 * Headers in the form in which messages are shown: `{NAME: {type, value}}`.
 * @throws Problem 400 naming the header
 */
export function headersOfTyped(json: unknown): FieldTable {
  const table = tableOf(json, 'headers', 1, { left: mostValues });
  const writer = new ByteWriter(Buffer.allocUnsafeSlow(4_096));
  writeTable(writer, table);
  const { length } = writer.written;
  if (length > mostBytes) throw badRequest(`'headers' take ${length} bytes, more than ${mostBytes}`);
  return table;
}

function tableOf(json: unknown, at: string, depth: number, budget: Budget): FieldTable {
  const table = new Map<string, Field>();
  for (const [name, typed] of objectEntries(json, at)) {
    if (!isShortstr(name)) throw badRequest(`a name in '${at}' is longer than ${maxShortstrBytes} bytes`);
    table.set(textOf(name, `a name in '${at}'`), fieldOf(typed, `${at}.${name}`, depth, budget));
  }
  return table;
}

function fieldOf(typed: unknown, at: string, depth: number, budget: Budget): Field {
  if (--budget.left < 0) throw badRequest(`'headers' have more than ${mostValues} values, nested ones counted`);
  if (depth > maxNesting) throw badRequest(`'${at.slice(0, 64)}' is nested more than ${maxNesting} levels deep`);
  const entries = objectEntries(typed, at);
  if (entries.has('length')) {
    throw badRequest(`'${at}' was cut on a page of messages: ask for the message itself, which is shown whole`);
  }
  onlyKnown(entries.keys(), ['type', 'value'], `key of '${at}'`);
  const type = entries.get('type');
  const read = typeof type === 'string' ? readers.get(type) : undefined;
  if (read === undefined) throw badRequest(`'${at}.type' should be one of ${[...readers.keys()].join(', ')}`);
  return read(entries.get('value'), at, depth, budget);
}

/** Integers that fit into a number: their letters and ranges. */
const integers = [
  ['b', -0x80, 0x7f],
  ['B', 0, 0xff],
  ['s', -0x8000, 0x7fff],
  ['u', 0, 0xffff],
  ['I', -0x8000_0000, 0x7fff_ffff],
  ['i', 0, 0xffff_ffff],
] as const;

const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ...integers.map(([type, least, most]): [string, Reader] => [
    fieldTypeNames[type],
    (value, at) => ({ type, value: integerOf(value, at, least, most) }),
  ]),
  [fieldTypeNames.l, (value, at) => ({ type: 'l', value: longOf(value, at, -(2n ** 63n), 2n ** 63n - 1n) })],
  [fieldTypeNames.T, (value, at) => ({ type: 'T', value: longOf(value, at, 0n, 2n ** 63n - 1n) })],
  [fieldTypeNames.f, (value, at) => ({ type: 'f', value: floatOf(value, at) })],
  [fieldTypeNames.d, (value, at) => ({ type: 'd', value: numberOf(value, at) })],
  [fieldTypeNames.t, (value, at) => ({ type: 't', value: booleanOf(value, at) })],
  [fieldTypeNames.S, (value, at) => ({ type: 'S', value: textOf(value, `'${at}'`) })],
  [fieldTypeNames.x, (value, at) => ({ type: 'x', value: bytesOf(value, at) })],
  [fieldTypeNames.D, (value, at) => ({ type: 'D', value: decimalOf(value, at) })],
  [fieldTypeNames.V, (value, at) => voidOf(value, at)],
  [fieldTypeNames.F, (value, at, depth, budget) => ({ type: 'F', value: tableOf(value, at, depth + 1, budget) })],
  [fieldTypeNames.A, (value, at, depth, budget) => ({ type: 'A', value: listOf(value, at, depth, budget) })],
]);

const should = (at: string, what: string): Problem => badRequest(`'${at}' should be ${what}`);

function listOf(value: unknown, at: string, depth: number, budget: Budget): readonly Field[] {
  if (!Array.isArray(value)) throw should(at, 'an array of {type, value}');
  return value.map((each: unknown, index) => fieldOf(each, `${at}[${index}]`, depth + 1, budget));
}

function integerOf(value: unknown, at: string, least: number, most: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw should(at, `a whole number from ${least} to ${most}`);
}

/**
 * A whole number of 64 bits; beyond the safe integers it is a string.
 * @throws Problem 400
 */
export function longOf(value: unknown, at: string, least: bigint, most: bigint): number | bigint {
  const isDigits = typeof value === 'string' && /^-?\d{1,20}$/.test(value);
  if (!isDigits && !Number.isSafeInteger(value)) throw should(at, 'a whole number, or its digits as a string');
  const long = BigInt(value as string | number);
  if (long < least || long > most) throw should(at, `a whole number from ${least} to ${most}`);
  return Number.isSafeInteger(Number(long)) ? Number(long) : long;
}

/** The numbers that JSON does not have, as messages show them. */
const special: readonly unknown[] = ['NaN', 'Infinity', '-Infinity'];

function numberOf(value: unknown, at: string): number {
  if (typeof value === 'number' || special.includes(value)) return Number(value);
  throw should(at, "a number, or 'NaN', 'Infinity' or '-Infinity'");
}

/** The nearest number of 32 bits. */
function floatOf(value: unknown, at: string): number {
  const float = Math.fround(numberOf(value, at));
  if (typeof value === 'number' && !Number.isFinite(float)) throw should(at, 'a number that fits into 32 bits');
  return float;
}

function booleanOf(value: unknown, at: string): boolean {
  if (typeof value === 'boolean') return value;
  throw should(at, 'true or false');
}

/** Half of a surrogate pair. Those of U+DC80 to U+DCFF stand for bytes that are no UTF-8, and become these bytes again. */
const noCharacter = /[\ud800-\udc7f\udd00-\udfff]/u;

/** @throws Problem 400 */
export function textOf(value: unknown, what: string): string {
  if (typeof value !== 'string') throw badRequest(`${what} should be a string`);
  if (noCharacter.test(value)) throw badRequest(`${what} has half of a surrogate pair, which is no character`);
  return value;
}

function bytesOf(value: unknown, at: string): Uint8Array {
  const bytes = typeof value === 'string' ? bytesOfBase64(value) : undefined;
  if (bytes === undefined) throw should(at, 'a string of base64');
  return bytes;
}

function decimalOf(value: unknown, at: string): { readonly scale: number; readonly value: number } {
  const entries = objectEntries(value, at);
  onlyKnown(entries.keys(), ['scale', 'value'], `key of '${at}'`);
  return {
    scale: integerOf(entries.get('scale'), `${at}.scale`, 0, 0xff),
    value: integerOf(entries.get('value'), `${at}.value`, 0, 0xffff_ffff),
  };
}

function voidOf(value: unknown, at: string): Field {
  if (value === null || value === undefined) return { type: 'V', value: undefined };
  throw should(at, 'null');
}
