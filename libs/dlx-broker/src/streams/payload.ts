import type { Message } from '../message/index.js';

/** Stands in the place of a payload whose bytes are not what the message says they are. */
export class Undecodable extends Error {
  override readonly name = 'Undecodable';

  constructor(
    why: string,
    /** The body as it came. */
    readonly body: Uint8Array,
  ) {
    super(`the body cannot be decoded: ${why}`);
  }
}

/**
 * Reads a body by the message's content type: JSON becomes a value, text a string, anything else (and a message without
 * a content type) stays bytes.
 * @returns an {@link Undecodable} when that fails; never throws
 */
export function decodePayload({ body, properties }: Message): unknown {
  const { contentType, contentEncoding } = properties;
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const isJson = /^application\/json$|\+json$/.test(type.trim());
  if (!isJson && !type.trim().startsWith('text/')) return body;
  const charset = parameters.map((parameter) => /^\s*charset="?([^"]*)"?\s*$/.exec(parameter)?.[1]).find(Boolean);
  try {
    if (!isPlain(contentEncoding)) throw new Error(`its content encoding is '${contentEncoding}'`);
    const text = new TextDecoder(charset ?? 'utf-8', { fatal: true }).decode(body);
    return isJson ? JSON.parse(text) : text;
  } catch (error) {
    return new Undecodable(error instanceof Error ? error.message : String(error), body);
  }
}

/** Many clients write the character set there, which says nothing new. */
const isPlain = (encoding: string | undefined): boolean =>
  encoding === undefined || /^(identity|utf-?8|)$/i.test(encoding);
