/** A member of an object in a JSON text, by positions in this text. */
export interface Member {
  readonly name: string;
  /** The position after the brace or the comma before it. White space may follow. */
  readonly start: number;
  /** The position of the quote before its name. */
  readonly nameAt: number;
  /** The position after the quote behind its name. */
  readonly nameEnd: number;
  readonly valueAt: number;
  readonly end: number;
}

/** An object in a JSON text. */
export interface JsonSpan {
  /** In the order of the text. A name may occur more than once. */
  readonly members: readonly Member[];
  /** The position of its closing brace. */
  readonly close: number;
}

/**
 * Finds the members of an object. The values inside them are skipped, so the work is one pass over the text.
 * @param text JSON: nothing is checked here
 * @param at the position of the opening brace
 */
export function membersAt(text: string, at: number): JsonSpan {
  const members: Member[] = [];
  let start = at + 1;
  for (let next = afterSpace(text, start); text[next] === '"'; next = afterSpace(text, start)) {
    const nameEnd = endOfString(text, next);
    const valueAt = afterSpace(text, afterSpace(text, nameEnd) + 1);
    const end = endOfValue(text, valueAt);
    members.push({ name: nameIn(text.slice(next, nameEnd)), start, nameAt: next, nameEnd, valueAt, end });
    const comma = afterSpace(text, end);
    if (text[comma] !== ',') return { members, close: comma };
    start = comma + 1;
  }
  return { members, close: afterSpace(text, start) };
}

/** @param quoted a string of JSON */
const nameIn = (quoted: string): string =>
  quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);

/** The position after the white space of JSON. */
export function afterSpace(text: string, at: number): number {
  let next = at;
  while (' \n\r\t'.includes(text[next] ?? 'x')) next++;
  return next;
}

/** @param at the position of the opening quote @returns the position after the closing one */
function endOfString(text: string, at: number): number {
  let end = text.indexOf('"', at + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end + 1;
}

/** True behind an odd number of backslashes. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === '\\') first--;
  return (at - first) % 2 === 1;
}

/** Numbers and words are skipped by the engine, which is many times faster than a loop over the characters of a large body. */
function endOfValue(text: string, at: number): number {
  const opening = text[at];
  if (opening === '"') return endOfString(text, at);
  if (opening !== '{' && opening !== '[') return positionOf(/[,}\] \n\r\t]/g, text, at);
  let depth = 1;
  let next = at + 1;
  const structure = /["[\]{}]/g;
  while (depth > 0) {
    next = positionOf(structure, text, next);
    const character = text[next];
    if (character === '"') {
      next = endOfString(text, next);
      continue;
    }
    depth += character === '{' || character === '[' ? 1 : -1;
    next++;
  }
  return next;
}

/** The next position at which a pattern with the flag `g` fits. In JSON one follows every value. */
function positionOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? text.length;
}
