/**
 * What a terminal or a log must not get as it is: control characters (with escape sequences), characters that change
 * the direction of text or take no room, separators of lines, and halves of a character.
 */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\u{e0000}-\u{e0fff}]/gu;

/** @param longest characters that are kept; what is longer ends in `…` */
export const cutText = (text: string, longest: number): string =>
  text.length > longest ? `${text.slice(0, longest)}…` : text;

/**
 * A text made by a client, safe to show: one line whose characters are all to be seen, in the order they are in. Each
 * other character becomes `\xHH` or `\u{HHHH}`; a text without any comes back as it is.
 * @param longest characters that are kept; what is longer ends in `…`
 */
export function shownText(text: string, longest = Infinity): string {
  const part = text.length > longest ? text.slice(0, longest) : text;
  const shown = part.replace(hidden, escaped);
  return part.length < text.length ? `${shown}…` : shown;
}

/** Several lines, each of them safe to show. Line ends stay, and tabs, which only leave room. */
export const shownLines = (text: string): string =>
  text.replace(hidden, (one) => (one === '\n' || one === '\t' ? one : escaped(one)));

/** JSON that says the same, with escapes for all that a terminal must not get; line ends and tabs stay. */
export const shownJson = (json: string): string =>
  json.replace(hidden, (one) => (one === '\n' || one === '\t' || one === '\r' ? one : unicodeEscapes(one)));

const unicodeEscapes = (one: string): string =>
  Array.from({ length: one.length }, (_, at) => `\\u${one.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');

function escaped(one: string): string {
  const code = one.codePointAt(0) as number;
  const digits = code.toString(16);
  return code < 256 ? `\\x${digits.padStart(2, '0')}` : `\\u{${digits}}`;
}
