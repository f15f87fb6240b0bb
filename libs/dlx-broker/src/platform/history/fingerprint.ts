import { createHash } from 'node:crypto';
import { type FieldTable, type Message, textAt } from '../../engine/message/index.js';
import { readHistory } from './error-entries.js';
import { errorHeaders, retryHeaders } from './names.js';
import { workQueueOf } from './origin.js';

/** The most characters of an error message that count for its kind, after the varying parts were replaced. */
const longestKind = 200;
/** The most characters of an error message that are read for its kind. */
const longestRead = 1_024;

/** The parts of a message that differ between failures of the same kind: identifiers first, then all other numbers. */
const varying = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|0x[0-9a-f]+|\d+/gi;

/** An error without numbers and identifiers, the same for similar failures: `TimeoutError: no answer after # ms`. */
export const errorKind = (name: string, message: string | undefined): string =>
  message ? `${name}: ${message.slice(0, longestRead).replace(varying, '#').slice(0, longestKind)}` : name;

/** The most characters of a fingerprint. */
export const longestFingerprint = 128;

/** True for a string that can be a fingerprint. */
export const isFingerprint = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= longestFingerprint;

/**
 * The fingerprint of a failure: `1:`, the version of the calculation, and 16 hexadecimal digits. It has neither the stack nor numbers,
 * so builds, hosts and identifiers do not change it.
 * @param handler class and method, or the queue if they are unknown
 */
export function fingerprintOf(handler: string, name: string, message: string | undefined): string {
  const parts = JSON.stringify([handler, name, errorKind(name, message)]);
  return `1:${createHash('sha256').update(parts).digest('hex').slice(0, 16)}`;
}

/** The fingerprint of the latest error in the headers; undefined without an error. @param queue in which it failed */
export function fingerprintAmong(headers: FieldTable | undefined, queue: string | undefined): string | undefined {
  const name = textAt(headers, errorHeaders.class);
  const latest = readHistory(headers).errors.find(({ redrive }) => redrive === undefined);
  const failed = name ?? latest?.name;
  if (failed === undefined) return undefined;
  const message = name === undefined ? latest?.message : textAt(headers, errorHeaders.message);
  return fingerprintOf(latest?.handler ?? queue ?? '', failed, message);
}

/** The fingerprint of a message: as it was written when the message was parked or rejected, or else calculated; undefined without an error. */
export function fingerprintIn(message: Message): string | undefined {
  const { headers } = message.own;
  const written = textAt(headers, retryHeaders.fingerprint);
  return isFingerprint(written) ? written : fingerprintAmong(headers, workQueueOf(message));
}
