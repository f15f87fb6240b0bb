/** The most characters that are parsed in one step. */
const small = 65_536;
/** The characters that are scanned between two pauses. */
const stride = 8_192;
/** The depth to which large values are parsed in parts. Each level scans them once more. */
const deepest = 3;
/** The most characters of a value below that depth, which is parsed in one step. */
const largestDeep = 1_048_576;

/** The most names of one object, because an object is converted in one turn. */
const mostNames = 16_384;

const [quote, comma, colon, backslash] = [34, 44, 58, 92];
const [bracket, closingBracket, brace, closingBrace] = [91, 93, 123, 125];

/** JSON that would take one long turn; the message says which part is too large. */
export class LargeJsonError extends SyntaxError {
  override readonly name = 'LargeJsonError';
}

/**
 * Parses as `JSON.parse` does; yields wherever it may pause.
 * @throws SyntaxError, or {@link LargeJsonError}
 */
export function* parsedJson(text: string, depth = 0): Generator<void, unknown, void> {
  const [from, end] = [afterSpace(text, 0), beforeSpace(text)];
  const first = text.charCodeAt(from);
  const isList = first === bracket && text.charCodeAt(end - 1) === closingBracket;
  const isObject = first === brace && text.charCodeAt(end - 1) === closingBrace;
  if (text.length < small || end - from < 2 || (!isList && !isObject)) return JSON.parse(text);
  if (depth >= deepest) {
    if (text.length <= largestDeep) return JSON.parse(text);
    throw new LargeJsonError(
      `what is nested more than ${deepest} levels deep is longer than ${largestDeep} characters`,
    );
  }
  const parts = yield* partsOf(text, from + 1, end - 1);
  if (isList) return yield* parsedList(parts, depth);
  return yield* parsedObject(parts, depth);
}

function* parsedList(parts: readonly string[], depth: number): Generator<void, unknown[], void> {
  const list: unknown[] = [];
  for (const part of parts) {
    list.push(yield* parsedJson(part, depth + 1));
    yield;
  }
  return list;
}

function* parsedObject(parts: readonly string[], depth: number): Generator<void, object, void> {
  if (parts.length > mostNames) throw new LargeJsonError(`an object has more than ${mostNames} names`);
  const object = {};
  for (const part of parts) {
    const from = afterSpace(part, 0);
    const end = part.charCodeAt(from) === quote ? endOfText(part, from) + 1 : part.length;
    const at = afterSpace(part, end);
    if (part.charCodeAt(at) !== colon) throw new SyntaxError('a name and a colon are missing');
    const name = JSON.parse(part.slice(from, end)) as string;
    const value = yield* parsedJson(part.slice(at + 1), depth + 1);
    // A name may be `__proto__`.
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
    yield;
  }
  return object;
}

/** The values between the commas of a list or an object. */
function* partsOf(text: string, from: number, end: number): Generator<void, string[], void> {
  const parts: string[] = [];
  let [start, depth, next] = [from, 0, from + stride];
  for (let at = from; at < end; at++) {
    if (at > next) {
      next = at + stride;
      yield;
    }
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfText(text, at);
    else if (code === bracket || code === brace) depth++;
    else if (code === closingBracket || code === closingBrace) depth--;
    else if (code === comma && depth === 0) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
    if (depth < 0) throw new SyntaxError('a bracket too many');
  }
  if (depth > 0) throw new SyntaxError('a bracket is missing');
  if (parts.length > 0 || afterSpace(text, start) < end) parts.push(text.slice(start, end));
  return parts;
}

/** The depth of a JSON text, or one more than the limit. Yields wherever it may pause. */
export function* nestingOf(text: string, limit: number): Generator<void, number, void> {
  let [depth, deep, next] = [0, 0, stride];
  for (let at = 0; at < text.length && deep <= limit; at++) {
    if (at > next) {
      next = at + stride;
      yield;
    }
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfText(text, at);
    else if (code === bracket || code === brace) deep = Math.max(deep, ++depth);
    else if (code === closingBracket || code === closingBrace) depth--;
  }
  return deep;
}

/** The position of the closing quote of a string, or the end of the input. */
function endOfText(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === backslash) escapes++;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}

const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13 && code !== 11 && code !== 12);

function afterSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

function beforeSpace(text: string): number {
  let end = text.length;
  while (isSpace(text.charCodeAt(end - 1))) end--;
  return end;
}
