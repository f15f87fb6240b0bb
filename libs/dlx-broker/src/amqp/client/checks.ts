import {
  type Field,
  type FieldTable,
  isShortstr,
  maxNesting,
  PackedTable,
  type Properties,
} from '../../engine/message/index.js';
import { UnsendableError } from './errors.js';

/** @throws UnsendableError when a name does not fit on the wire */
export function checkName(what: string, name: string): void {
  if (isShortstr(name)) return;
  throw new UnsendableError(`the ${what} '${name.slice(0, 40)}...' is longer than 255 bytes`);
}

/** The most bytes of all properties without headers: flags, ten texts, two octets and a timestamp. */
const withoutHeaders = 2 + 10 * 256 + 2 + 8;

/**
 * Checks properties before anything of them is written.
 * @returns bytes on the wire at most @throws UnsendableError which names the property
 */
export function checkProperties(properties: Properties): number {
  const { deliveryMode, priority, timestamp } = properties;
  checkText('contentType', properties.contentType);
  checkText('contentEncoding', properties.contentEncoding);
  checkText('correlationId', properties.correlationId);
  checkText('replyTo', properties.replyTo);
  checkText('expiration', properties.expiration);
  checkText('messageId', properties.messageId);
  checkText('type', properties.type);
  checkText('userId', properties.userId);
  checkText('appId', properties.appId);
  checkText('clusterId', properties.clusterId);
  if (deliveryMode !== undefined) checkNumber('property deliveryMode', deliveryMode, 0, 255);
  if (priority !== undefined) checkNumber('property priority', priority, 0, 255);
  if (timestamp !== undefined) checkNumber('property timestamp', timestamp, 0, longest);
  return withoutHeaders + (properties.headers === undefined ? 0 : sizeOf(properties.headers, 1));
}

function checkText(name: string, text: string | undefined): void {
  if (text !== undefined && !isShortstr(text)) throw new UnsendableError(`property ${name} is longer than 255 bytes`);
}

/** Checks arguments of a declaration. @throws UnsendableError */
export function checkArguments(args: FieldTable | undefined): void {
  if (args !== undefined) sizeOf(args, 1);
}

const longest = 2 ** 64;

function checkNumber(what: string, value: number | bigint | undefined, least: number, most: number): void {
  if (value === undefined) return;
  if ((typeof value === 'bigint' || Number.isInteger(value)) && value >= least && value <= most) return;
  throw new UnsendableError(`${what} cannot be ${value}: it is an integer from ${least} to ${most}`);
}

/** @returns bytes on the wire at most */
function sizeOf(table: FieldTable, depth: number): number {
  // A table that came from the wire is small enough.
  if (table instanceof PackedTable) return 4 + table.length;
  if (depth > maxNesting) throw new UnsendableError(`headers are nested more than ${maxNesting} levels deep`);
  let size = 4;
  for (const [name, field] of table) {
    if (!isShortstr(name)) throw new UnsendableError(`header name '${name.slice(0, 40)}...' is longer than 255 bytes`);
    size += 2 + name.length * 3 + fieldSize(name, field, depth);
  }
  return size;
}

const ranges: Readonly<Record<'b' | 'B' | 's' | 'u' | 'I' | 'i' | 'l' | 'T', readonly [least: number, most: number]>> =
  {
    b: [-0x80, 0x7f],
    B: [0, 0xff],
    s: [-0x8000, 0x7fff],
    u: [0, 0xffff],
    I: [-0x8000_0000, 0x7fff_ffff],
    i: [0, 0xffff_ffff],
    l: [-(2 ** 63), 2 ** 63],
    T: [0, longest],
  };

function fieldSize(name: string, field: Field, depth: number): number {
  switch (field.type) {
    case 'S':
      return 4 + field.value.length * 3;
    case 'x':
      return 4 + field.value.length;
    case 'F':
      return sizeOf(field.value, depth + 1);
    case 'A':
      return arraySize(name, field.value, depth + 1);
    case 'D':
      checkNumber(`the scale of header '${name}'`, field.value.scale, 0, 0xff);
      checkNumber(`header '${name}'`, field.value.value, 0, 0xffff_ffff);
      return 8;
    case 't':
    case 'f':
    case 'd':
    case 'V':
      return 8;
    default:
      checkNumber(`header '${name}'`, field.value, ...ranges[field.type]);
      return 8;
  }
}

function arraySize(name: string, items: readonly Field[], depth: number): number {
  if (depth > maxNesting) throw new UnsendableError(`headers are nested more than ${maxNesting} levels deep`);
  let size = 4;
  for (const item of items) size += 1 + fieldSize(name, item, depth);
  return size;
}
