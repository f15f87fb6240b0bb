import { isUtf8 } from 'node:buffer';

/** The bytes that are examined between two pauses. */
const stride = 65_536;

/** A body with a number of this many characters does not count as JSON: a number is examined without a pause. */
const longestNumber = 65_536;

/** The levels of nesting up to which a body counts as JSON. */
const deepest = 10_000;

const [quote, comma, colon, backslash, minus, plus, dot] = [34, 44, 58, 92, 45, 43, 46];
const [bracket, closingBracket, brace, closingBrace] = [91, 93, 123, 125];

const letterU = 117;
/** What may follow a backslash, besides `u`. */
const escapes: Uint8Array = Buffer.from('"\\/bfnrt');

const literals = ['true', 'false', 'null'].map((word) => Buffer.from(word));

/** The next thing that may stand in a JSON text. */
const enum Next {
  Value,
  ValueOrEnd,
  Name,
  NameOrEnd,
  Colon,
  CommaOrEnd,
}

/**
 * Finds the first byte at which a string stops being JSON. It makes no value of it, so it needs no memory for large bodies.
 * Yields wherever it may pause.
 * @returns undefined for JSON
 */
export function* jsonFaultIn(bytes: Uint8Array): Generator<void, number | undefined, void> {
  if (!isUtf8(bytes)) return 0;
  /** True for each open object, false for each open array. */
  const open: boolean[] = [];
  let next: Next = Next.Value;
  let pause = stride;
  for (let at = 0; ;) {
    at = afterSpace(bytes, at, pause);
    if (at >= pause) {
      pause = at + stride;
      yield;
      continue; // perhaps the space goes on
    }
    const byte = bytes[at];
    const isObject = open.at(-1) === true;
    if (next === Next.CommaOrEnd && open.length === 0) return at === bytes.length ? undefined : at;
    if (byte === undefined) return at;
    let end = 0;
    if (byte === quote && next !== Next.CommaOrEnd && next !== Next.Colon) {
      for (end = endOfString(bytes, at + 1); end < 0; end = endOfString(bytes, -end)) yield;
      if (end === 0) return at;
    }
    if (isEnd(byte, isObject) && (next === Next.CommaOrEnd || next === Next.ValueOrEnd || next === Next.NameOrEnd)) {
      open.pop();
      next = Next.CommaOrEnd;
      at++;
    } else if (next === Next.CommaOrEnd) {
      if (byte !== comma) return at;
      next = isObject ? Next.Name : Next.Value;
      at++;
    } else if (next === Next.Name || next === Next.NameOrEnd) {
      if (end === 0) return at;
      next = Next.Colon;
      at = end;
    } else if (next === Next.Colon) {
      if (byte !== colon) return at;
      next = Next.Value;
      at++;
    } else if (byte === brace || byte === bracket) {
      if (open.push(byte === brace) > deepest) return at;
      next = byte === brace ? Next.NameOrEnd : Next.ValueOrEnd;
      at++;
    } else {
      end ||= endOfLiteral(bytes, at) || endOfNumber(bytes, at);
      if (end === 0) return at;
      next = Next.CommaOrEnd;
      at = end;
    }
  }
}

const isEnd = (byte: number, isObject: boolean): boolean => byte === (isObject ? closingBrace : closingBracket);

/** The position after the white space of JSON, or `most` if it is longer. */
export function afterSpace(bytes: Uint8Array, from: number, most: number): number {
  let at = from;
  while (at < most && (bytes[at] === 32 || bytes[at] === 10 || bytes[at] === 13 || bytes[at] === 9)) at++;
  return at;
}

/**
 * The position after a string; 0 if it does not end, or has something that no string may have.
 * @param from within the string
 * @returns a negative number after as many bytes as are examined between two pauses: minus the position to go on from
 */
function endOfString(bytes: Uint8Array, from: number): number {
  for (let at = from; at < bytes.length; at++) {
    if (at - from >= stride) return -at;
    const byte = bytes[at] as number;
    if (byte === quote) return at + 1;
    if (byte < 32) return 0;
    if (byte !== backslash) continue;
    const escape = bytes[++at] ?? 0;
    if (escape === letterU) {
      for (const end = at + 4; at < end;) if (!isHex(bytes[++at] ?? 0)) return 0;
    } else if (!escapes.includes(escape)) return 0;
  }
  return 0;
}

const isHex = (byte: number): boolean =>
  (byte >= 48 && byte <= 57) || (byte >= 65 && byte <= 70) || (byte >= 97 && byte <= 102);

function endOfLiteral(bytes: Uint8Array, start: number): number {
  const word = literals.find((literal) => literal.every((byte, index) => bytes[start + index] === byte));
  return word === undefined ? 0 : start + word.length;
}

/** The position after a number; 0 if there is none, or if it is too long. */
function endOfNumber(bytes: Uint8Array, start: number): number {
  const most = start + longestNumber;
  let at = bytes[start] === minus ? start + 1 : start;
  const first = at;
  at = afterDigits(bytes, at, most);
  if (at === first || at >= most || (bytes[first] === 48 && at > first + 1)) return 0;
  if (bytes[at] === dot) {
    const fraction = afterDigits(bytes, at + 1, most);
    if (fraction === at + 1 || fraction >= most) return 0;
    at = fraction;
  }
  if (bytes[at] !== 101 && bytes[at] !== 69) return at;
  const sign = bytes[at + 1];
  const from = sign === plus || sign === minus ? at + 2 : at + 1;
  const end = afterDigits(bytes, from, most);
  return end === from || end >= most ? 0 : end;
}

function afterDigits(bytes: Uint8Array, from: number, most: number): number {
  let at = from;
  while (at < most && isDigit(bytes[at] ?? 0)) at++;
  return at;
}

const isDigit = (byte: number): boolean => byte >= 48 && byte <= 57;
