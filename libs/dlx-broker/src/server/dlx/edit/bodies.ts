import { createHash } from 'node:crypto';
import { isLost, type Message } from '../../../engine/message/index.js';
import { badRequest, Problem } from '../../http/reply.js';
import type { Edit } from './edit-input.js';
import { afterSpace, jsonFaultIn } from './json-fault.js';

/** The bytes that are hashed between two pauses. */
const stride = 1_048_576;

/** The sha256 of the two bodies of an edit in hexadecimal digits, for the audit log. */
export interface BodySums {
  readonly before: string;
  readonly after: string;
}

/**
 * Compares the body of a message with the one that replaces it. Yields wherever it may pause.
 * @throws Problem 400 if the body was JSON and no longer is, 503 if it cannot be read from disk, 409 if it is lost
 */
export function* checkBodies(
  message: Message,
  { body, allowsInvalid }: Pick<Edit, 'body' | 'allowsInvalid'>,
): Generator<void, BodySums, void> {
  const old = readable(message);
  const before = yield* sumOf(old);
  if (body === undefined) return { before, after: before };
  if (!allowsInvalid && mayBeJson(old, message) && (yield* jsonFaultIn(old)) === undefined) {
    const fault = yield* jsonFaultIn(body);
    if (fault !== undefined) throw isNoJson(fault);
  }
  return { before, after: yield* sumOf(body) };
}

const isNoJson = (fault: number): Problem =>
  badRequest(
    `'payload' stops being JSON at byte ${fault}, and it replaces JSON; 'allow_invalid': true accepts it all the same`,
  );

function readable(message: Message): Uint8Array {
  try {
    return message.body;
  } catch (error) {
    const { message: reason } = error as Error;
    if (isLost(error)) throw new Problem(409, 'conflict', `the body of the message is lost: ${reason}`);
    throw new Problem(503, 'storage_unreadable', `the body of the message cannot be read now: ${reason}`, {
      'retry-after': '5',
    });
  }
}

/** The white space at the beginning of a body that may be JSON. */
const mostSpace = 65_536;

/** An object or an array, or any text of a message whose content type names JSON. A lone number is no JSON otherwise. */
function mayBeJson(body: Uint8Array, { properties: { contentType = '' } }: Message): boolean {
  const first = body[afterSpace(body, 0, mostSpace)];
  return first === 123 || first === 91 || /json/i.test(contentType);
}

function* sumOf(bytes: Uint8Array): Generator<void, string, void> {
  const hash = createHash('sha256');
  for (let at = 0; at < bytes.length; at += stride) {
    hash.update(bytes.subarray(at, at + stride));
    yield;
  }
  return hash.digest('hex');
}
