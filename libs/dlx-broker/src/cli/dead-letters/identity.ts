import { createHash } from 'node:crypto';

/** A message as a line of an export shows it. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** What stays the same while a message lies in its queue. The counts of its deliveries and its expiry may change. */
const fixed = ['id', 'exchange', 'routing_key', 'first_death', 'deaths', 'properties', 'headers'] as const;

/**
 * The sum of an exported message: its id, its addresses, deaths, properties, headers and bytes. Messages with one sum are the same.
 * @param body the decoded body
 */
export const sumOf = (message: JsonObject, body: Buffer): string =>
  createHash('sha256')
    .update(JSON.stringify(fixed.map((name) => message[name] ?? null)))
    .update(body)
    .digest()
    .toString('latin1', 0, 16);

/** The body of an exported message; undefined if the line has no body, or not all of it. */
export function bodyOf({ payload, payload_encoding: encoding, payload_bytes: bytes }: JsonObject): Buffer | undefined {
  if (typeof payload !== 'string') return undefined;
  const body = Buffer.from(payload, encoding === 'base64' ? 'base64' : 'utf8');
  return body.length === bytes ? body : undefined;
}
