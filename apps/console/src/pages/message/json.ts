/** A JSON value as it was written: numbers keep all digits, objects keep repeated names and the order of their members. */
export type JsonNode =
  | { readonly kind: 'object'; readonly members: readonly (readonly [name: string, value: JsonNode])[] }
  | { readonly kind: 'array'; readonly items: readonly JsonNode[] }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'number' | 'literal'; readonly text: string };

/** Deeper values are not shown as a tree: each level is a call of this parser and of the view. */
const deepest = 200;

/** Parses JSON. @returns undefined if the text is not JSON, or nested more than 200 levels deep */
export function parseJson(text: string): JsonNode | undefined {
  if (problemOf(text) !== undefined) return undefined;
  try {
    return new Parser(text).value(0);
  } catch (error) {
    if (error instanceof TooDeep) return undefined;
    throw error;
  }
}

/** Why a string is not JSON; undefined if it is. */
export function problemOf(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

class TooDeep extends Error {}

const space = /[ \t\n\r]*/y;
const number = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const literal = /true|false|null/y;

/** Reads a string that is known to be JSON. */
class Parser {
  #at = 0;

  constructor(readonly text: string) {}

  value(depth: number): JsonNode {
    if (depth > deepest) throw new TooDeep();
    this.#take(space);
    const next = this.text[this.#at];
    if (next === '{') return this.#object(depth);
    if (next === '[') return this.#array(depth);
    if (next === '"') return { kind: 'string', value: this.#string() };
    const text = this.#take(literal);
    return text === '' ? { kind: 'number', text: this.#take(number) } : { kind: 'literal', text };
  }

  #object(depth: number): JsonNode {
    const members: [string, JsonNode][] = [];
    this.#at++;
    while (!this.#ends('}')) {
      const name = this.#string();
      this.#take(space);
      this.#at++;
      members.push([name, this.value(depth + 1)]);
    }
    return { kind: 'object', members };
  }

  #array(depth: number): JsonNode {
    const items: JsonNode[] = [];
    this.#at++;
    while (!this.#ends(']')) items.push(this.value(depth + 1));
    return { kind: 'array', items };
  }

  /** Skips a comma and the space around it. @returns true, after the bracket, at the end */
  #ends(bracket: string): boolean {
    this.#take(space);
    if (this.text[this.#at] === ',') {
      this.#at++;
      this.#take(space);
    }
    if (this.text[this.#at] !== bracket) return false;
    this.#at++;
    return true;
  }

  #string(): string {
    const start = this.#at;
    // A regular expression would need a stack frame for each character of a long text.
    let end = start + 1;
    while (this.text[end] !== '"') end += this.text[end] === '\\' ? 2 : 1;
    this.#at = end + 1;
    return JSON.parse(this.text.slice(start, end + 1)) as string;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }
}

/** The widest indent. Without a limit, a deep body of a megabyte would become hundreds of megabytes of spaces. */
const widestIndent = 60;

/** JSON with line breaks and an indent of two spaces. Numbers keep all digits. */
export function formatJson(node: JsonNode, indent = ''): string {
  const inner = indent.length < widestIndent ? `${indent}  ` : indent;
  if (node.kind === 'object') {
    if (node.members.length === 0) return '{}';
    const lines = node.members.map(([name, value]) => `${inner}${JSON.stringify(name)}: ${formatJson(value, inner)}`);
    return `{\n${lines.join(',\n')}\n${indent}}`;
  }
  if (node.kind === 'array') {
    if (node.items.length === 0) return '[]';
    return `[\n${node.items.map((item) => inner + formatJson(item, inner)).join(',\n')}\n${indent}]`;
  }
  return node.kind === 'string' ? JSON.stringify(node.value) : node.text;
}
