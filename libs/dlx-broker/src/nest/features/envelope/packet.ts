import type { MsPattern, WritePacket } from '@nestjs/microservices';
import { transformPatternToRoute } from '../../handlers/nest-versions.js';
import { keptText } from '../../../engine/message/index.js';
import { jsonType } from '../../../platform/history/index.js';
import type { EncodedPayload } from '../../core/payload.js';

/** A message of Nest's RabbitMQ transport, as `ClientRMQ` writes it. */
export interface Packet {
  /** The pattern as Nest compares it: an object is its JSON text with sorted keys. */
  readonly pattern: string;
  readonly data: unknown;
  /** The id of a request; undefined for an event. */
  readonly id: unknown;
  /** What a dispatch hook of the client attached. */
  readonly metadata: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (payload: unknown): Fields | undefined =>
  typeof payload === 'object' && payload !== null && !Array.isArray(payload) ? (payload as Fields) : undefined;

const isPattern = (pattern: unknown): boolean =>
  typeof pattern === 'string' || typeof pattern === 'number' || (typeof pattern === 'object' && pattern !== null);

/** The packet that a payload is. Undefined for any other payload: then the routing key is the pattern. */
export function packetOf(payload: unknown): Packet | undefined {
  const fields = fieldsOf(payload);
  if (fields === undefined || !isPattern(fields['pattern'])) return undefined;
  const { pattern, data, id, metadata } = fields;
  return { pattern: routeOf(pattern), data, id, metadata };
}

/** What Nest 12 writes in place of what is nested too deeply. No handler has it. */
const tooDeep = '[MAX_DEPTH_REACHED]';

/** Nest's route of an object. Early versions of Nest 11 do not limit the depth, and overflow the stack. */
function routeOfObject(pattern: unknown): string {
  try {
    return transformPatternToRoute(pattern as MsPattern);
  } catch (error) {
    if (error instanceof RangeError) return tooDeep;
    throw error;
  }
}

/** A string may be the JSON of an object (`wildcards`), whose keys are not sorted yet. */
function routeOf(pattern: unknown): string {
  if (typeof pattern !== 'string') return routeOfObject(pattern);
  if (!pattern.startsWith('{')) return pattern;
  try {
    return transformPatternToRoute(JSON.parse(pattern) as MsPattern);
  } catch {
    return pattern;
  }
}

const packetFields: ReadonlySet<string> = new Set(['pattern', 'data', 'id', 'metadata']);

/** True for a payload that has the fields of a packet and no others. */
export function looksLikePacket(payload: unknown): boolean {
  const fields = fieldsOf(payload);
  if (fields === undefined || !isPattern(fields['pattern']) || !Object.hasOwn(fields, 'data')) return false;
  return (
    Object.keys(fields).every((field) => packetFields.has(field)) && /^(string|undefined)$/.test(typeof fields['id'])
  );
}

const encode = (packet: object): EncodedPayload => ({
  contentType: jsonType,
  body: keptText(JSON.stringify(packet)),
});

/**
 * Writes a packet as `ClientRMQ` does. Bytes in the data become what JSON makes of a Buffer, as in Nest.
 * @param id the correlation id of a request; undefined for an event
 */
export const encodePacket = (
  pattern: unknown,
  data: unknown,
  metadata: unknown,
  id: string | undefined,
): EncodedPayload => encode({ pattern, data, metadata, id });

/** The part of an answer that a reply has. */
export type ReplyKind = 'next' | 'last' | 'complete' | 'error';

/** Writes a reply as `ServerRMQ` does. */
export function encodeReply(kind: ReplyKind, value: unknown): EncodedPayload {
  switch (kind) {
    case 'next':
      // A packet without any field would be a response and the end for the client.
      return encode({ response: value === undefined ? null : value });
    case 'last':
      return encode({ response: value, isDisposed: true });
    case 'complete':
      return encode({ isDisposed: true });
    case 'error':
      return encode({ err: value, isDisposed: true });
  }
}

const replyFields: ReadonlySet<string> = new Set(['id', 'err', 'response', 'isDisposed', 'status']);

/**
 * Reads a reply as `ClientRMQ` does: a body with other fields is a whole response, and the last one. Others are the last one if
 * `isDisposed` is true.
 */
export function replyOf(payload: unknown): WritePacket {
  const fields = fieldsOf(payload);
  const names = fields === undefined ? [] : Object.keys(fields);
  if (fields === undefined || names.length === 0 || names.some((name) => !replyFields.has(name))) {
    return { response: payload, isDisposed: true };
  }
  const { err, response, isDisposed } = fields;
  return err ? { err, response, isDisposed: true } : { response, isDisposed: isDisposed === true };
}
