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
 * Reads a body by the message's content type: JSON (also without a content type, as everywhere in this library) becomes
 * a value, text a string, anything else stays bytes. An empty body that is not said to be bytes is undefined.
 * @returns an {@link Undecodable} when that fails; never throws
 */
export function readPayload({ body, own: properties }: Message): unknown {
  const { contentType, contentEncoding } = properties;
  const [first = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const type = first.trim();
  const isJson = type === '' || type === 'application/json' || type.endsWith('+json');
  const isText = type.startsWith('text/');
  if (!isJson && !isText) return body;
  if (body.length === 0) return isText ? '' : undefined;
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
