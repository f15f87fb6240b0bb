/**
 * Characters that a terminal or a log must not get: control characters, which begin escape sequences, characters that
 * change the direction of text or have no width, line separators, and lone surrogates.
 */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\u{e0000}-\u{e0fff}]/gu;

/** Matches most texts, in a tenth of the time of `hidden`, which has to look up every character. */
const plain = /^[\x20-\x7e]*$/;

/** A number of things, `1 message` or `2 messages`. */
export const amount = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** @param maxLength characters; a longer text is cut and ends in `…` */
export const cutText = (text: string, maxLength: number): string =>
  text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;

/**
 * Makes a text of a client safe to show: one line, in which every character is visible and in its order. Each other character
 * becomes `\xHH` or `\u{HHHH}`.
 * @param maxLength characters of the text; a longer one is cut and ends in `…`
 */
export function shownText(text: string, maxLength = Infinity): string {
  const part = text.length > maxLength ? text.slice(0, maxLength) : text;
  if (plain.test(part)) return part.length < text.length ? `${part}…` : part;
  const shown = part.replace(hidden, escaped);
  return part.length < text.length ? `${shown}…` : shown;
}

/**
 * Replaces user and password of each URL in a text: errors of other libraries may show an URL as it was written. The password may have
 * two slashes, which make the URL invalid. A port in front of a path is not taken for a password.
 */
export const withoutPasswords = (text: string): string =>
  text.includes('://') ? text.replace(login, '://***@') : text;

const login = /:\/\/[^\s/:@]*:(?!\d{1,5}(?:[/?#,;]|$))[^\s/]*(?:\/[^\s/]*){0,2}@/g;

/** Makes a text of several lines safe to show. Line ends and tabs stay. */
export const shownLines = (text: string): string =>
  text.replace(hidden, (one) => (one === '\n' || one === '\t' ? one : escaped(one)));

/** Makes JSON safe to show, by escapes that do not change its meaning. Line ends and tabs stay. */
export const shownJson = (json: string): string =>
  json.replace(hidden, (one) => (one === '\n' || one === '\t' || one === '\r' ? one : unicodeEscapes(one)));

const unicodeEscapes = (one: string): string =>
  Array.from({ length: one.length }, (_, at) => `\\u${one.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');

function escaped(one: string): string {
  const code = one.codePointAt(0) as number;
  const digits = code.toString(16);
  return code < 256 ? `\\x${digits.padStart(2, '0')}` : `\\u{${digits}}`;
}

/**
 * Makes an error without the stack of calls. The stack of an error that the bytes of a server cause shows this library only, and
 * recording it costs more than all else that a message does.
 */
export function stackless<T extends Error>(make: () => T): T {
  const { stackTraceLimit } = Error;
  // Where built-in objects are frozen, this changes nothing.
  Reflect.set(Error, 'stackTraceLimit', 0);
  try {
    return make();
  } finally {
    Reflect.set(Error, 'stackTraceLimit', stackTraceLimit);
  }
}

/**
 * Calls a function for each item, also for those behind one for which it throws.
 * @param failed called with each error
 */
export function callEach<T>(items: Iterable<T>, call: (item: T) => void, failed: (error: unknown) => void): void {
  for (const item of items) {
    try {
      call(item);
    } catch (error) {
      failed(error);
    }
  }
}

/** True also for promises of another library or another realm. */
export const isThenable = <T>(value: T | PromiseLike<T>): value is PromiseLike<T> =>
  typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function';
