/** Characters that are parsed in one go. */
const small = 65_536;
/** Characters looked at between two pauses. */
const stride = 8_192;
/** So deep large parts are parsed part by part; each level is one more look at them. */
const deepest = 3;
/** Characters of what is nested deeper, which is parsed in one go. */
const largestDeep = 1_048_576;

/** Names of one object, each once or more: what is made of an object is made in one turn. */
const mostNames = 16_384;

const [quote, comma, colon, backslash] = [34, 44, 58, 92];
const [bracket, closingBracket, brace, closingBrace] = [91, 93, 123, 125];

/** JSON that would have to be parsed or converted in one long turn; the message says what is too large. */
export class LargeJsonError extends SyntaxError {
  override readonly name = 'LargeJsonError';
}

/** Parses as `JSON.parse` does, and yields wherever it may pause. @throws SyntaxError, or {@link LargeJsonError} */
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

/** What stands between the commas of a list or an object. */
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

/** How deep it is nested, or one more than the limit; yields wherever it may pause. */
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

/** The place of the quote that ends a text, or the end of everything. */
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
