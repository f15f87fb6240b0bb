import {
  type CarbonCopies,
  compact,
  faultIn,
  type FieldTable,
  fieldTypeNames,
  hasMoreThan,
  isEmptyTable,
  isShortstr,
  maxShortstrBytes,
  type Message,
  PackedTable,
  type Properties,
  textLength,
} from '../../message/index.js';
import { accessRefused, type AmqpError, preconditionFailed } from '../errors.js';
import { erlangString } from '../erlang-terms.js';
import type { Exchange } from '../exchange/exchange.js';
import { maxTtl } from '../queue/argument-values.js';
import { replyQueue } from '../virtual-host/reply-addresses.js';

// Checks of values that the wire cannot carry; only a host in the same process can pass them. RabbitMQ has no errors for such
// values. They close the channel and not the connection, so that a wrong call does not end all consumers of the application.

/**
 * Names of queues and exchanges, keys and consumer tags travel as short strings.
 * @throws 406 when one has more than 255 bytes
 */
export function checkLength(what: string, name: string): void {
  if (isShortstr(name)) return;
  const text = `${what} '${name.slice(0, 32)}...' is ${textLength(name)} bytes long, more than ${maxShortstrBytes}`;
  throw preconditionFailed(text);
}

/** The most values in the arguments of a queue, exchange, binding or consumer, which are kept as long as that exists. */
const maxArguments = 4_096;

/** @throws 406 when headers or arguments have a value that the wire cannot carry, or arguments have too many values */
export function checkTable(what: string, table: FieldTable | undefined): void {
  // A packed table was checked when it was read or packed.
  if (table === undefined || table instanceof PackedTable || table.size === 0) return;
  const fault = faultIn(table);
  if (fault !== undefined) throw preconditionFailed(`${what} ${fault}`);
  if (what === 'argument' && hasMoreThan(table, maxArguments)) {
    throw preconditionFailed(`arguments have more than ${maxArguments} values, nested ones counted`);
  }
}

// The checks of every publish. The caller keeps the order of rule K7: size, permission, exchange, user-id, expiration, delivery
// mode, carbon copies.

/**
 * @param text the `expiration` property: milliseconds as a decimal integer, which may have a sign
 * @returns milliseconds
 * @throws 406 with the text of rule B3
 */
export function parseExpiration(text: string): number {
  const length = text.length;
  if (length === 0 || length > 12) return parseAnyExpiration(text); // 315360000000 has 12 digits
  let milliseconds = 0;
  for (let index = 0; index < length; index++) {
    const digit = text.charCodeAt(index) - 48;
    if (digit < 0 || digit > 9) return parseAnyExpiration(text);
    milliseconds = milliseconds * 10 + digit;
  }
  return milliseconds <= maxTtl ? milliseconds : parseAnyExpiration(text);
}

function parseAnyExpiration(text: string): number {
  const number = /^[+-]?[0-9]+/.exec(text)?.[0];
  if (number === undefined) throw invalidExpiration(text, 'no_integer');
  if (number.length < text.length) {
    throw invalidExpiration(text, `{leftover_string,${erlangString(text.slice(number.length))}}`);
  }
  const milliseconds = BigInt(number.startsWith('+') ? number.slice(1) : number);
  if (milliseconds < 0n) throw invalidExpiration(text, `{value_negative,${milliseconds}}`);
  if (milliseconds > maxTtl) throw invalidExpiration(text, `{value_too_large,${milliseconds}}`);
  return Number(milliseconds);
}

const invalidExpiration = (text: string, reason: string) =>
  preconditionFailed(`invalid expiration '${text}': ${reason}`);

/**
 * The further routing keys of a message (rules G2, G3). Elements that are not text are ignored.
 * @returns undefined when there are none
 * @throws 406 when `CC` or `BCC` is no array
 */
export function carbonCopiesOf(headers: FieldTable | undefined): CarbonCopies | undefined {
  if (headers === undefined || isEmptyTable(headers)) return undefined;
  const cc = keysIn(headers, 'CC');
  const bcc = keysIn(headers, 'BCC');
  return cc === undefined && bcc === undefined ? undefined : { cc: cc ?? noKeys, bcc: bcc ?? noKeys };
}

const noKeys: readonly string[] = [];

function keysIn(headers: FieldTable, name: 'CC' | 'BCC'): readonly string[] | undefined {
  const field = headers.get(name);
  if (field === undefined) return undefined;
  if (field.type !== 'A') {
    const type = fieldTypeNames[field.type];
    throw preconditionFailed(`invalid message: {unacceptable_type_in_header,"${name}",${type}}`);
  }
  const keys: string[] = [];
  for (const key of field.value) if (key.type === 'S') keys.push(key.value);
  return keys.length === 0 ? undefined : keys;
}

/** The headers as consumers see them: the same table unless there is a `BCC` (rule G3). */
export function withoutBcc(headers: FieldTable): FieldTable {
  if (!headers.has('BCC')) return headers;
  const visible = new Map(headers);
  visible.delete('BCC');
  return compact(visible);
}

/** The mode is absent, 1 (transient) or 2 (persistent) (rule K7). @throws 406 */
export function checkDeliveryMode(deliveryMode: number | undefined): void {
  if (deliveryMode === undefined || deliveryMode === 1 || deliveryMode === 2) return;
  throw preconditionFailed(`invalid message: {delivery_mode_unknown,${deliveryMode}}`);
}

/**
 * The `user-id` has to be the name of the publishing user, unless that user is an impersonator (rule K7).
 * @param user the publisher; undefined is the host application itself
 */
export function checkUserId(
  properties: Properties,
  user: { readonly name: string; readonly tags: readonly string[] } | undefined,
): void {
  const claimed = properties.userId;
  if (claimed === undefined || user === undefined || claimed === user.name) return;
  if (user.tags.includes('impersonator')) return;
  throw preconditionFailed(`user_id property set to '${claimed}' but authenticated user was '${user.name}'`);
}

/**
 * The checks of a publish for a message that takes the place of another one.
 * @param user the user who changed it; undefined is the host application itself
 * @param limit the most bytes of its body
 * @throws 406 with the text of the first fault
 */
export function checkEdited({ own, size }: Message, user: Parameters<typeof checkUserId>[1], limit: number): void {
  checkSize(size, limit);
  checkTable('header', own.headers);
  if (own.replyTo === replyQueue) throw preconditionFailed('fast reply consumer does not exist');
  checkUserId(own, user);
  if (own.expiration !== undefined) parseExpiration(own.expiration);
  checkDeliveryMode(own.deliveryMode);
}

/** What {@link openExchange} needs of a virtual host. */
interface Exchanges {
  readonly name: string;
  exchange(name: string): Exchange;
}

/**
 * The exchange to which a message is published.
 * @throws 404, or 403 for an internal one, to which only bindings lead (rule K7)
 */
export function openExchange(vhost: Exchanges, name: string): Exchange {
  const exchange = vhost.exchange(name);
  if (!exchange.declared.internal) return exchange;
  throw accessRefused(`cannot publish to internal exchange '${name}' in vhost '${vhost.name}'`);
}

/** @param limit in bytes (rule K7) @throws 406 */
export function checkSize(size: number, limit: number): void {
  if (size > limit) throw tooLarge(size, limit);
}

/** A body that has more bytes than allowed (rule K7). */
export const tooLarge = (size: number | bigint, limit: number): AmqpError =>
  preconditionFailed(`message size ${size} is larger than configured max size ${limit}`);
