import { createHash } from 'node:crypto';

/** Longer ids of causes are replaced by their hash: a chain of events, each caused by the one before, has no end. */
const longestCause = 128;

const hashOf = (text: string, characters: number): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, characters);

/** A short name of a handler for the ids of its events: several handlers may get the same message, each in its own queue. */
export const tagOf = (queue: string, origin: string): string => hashOf(`${queue}\n${origin}`, 6);

/** The message id of the nth event that a handler emits for a message. It is the same each time the handler gets the message. */
export function derivedId(cause: string, tag: string, n: number): string {
  const start = Buffer.byteLength(cause) <= longestCause ? cause : hashOf(cause, 22);
  return `${start}.${tag}.${n}`;
}
