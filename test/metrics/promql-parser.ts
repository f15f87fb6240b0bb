/** A choice of series by a label. */
export interface Matcher {
  readonly label: string;
  readonly by: '=' | '!=' | '=~' | '!~';
  readonly value: string;
}

/** How the series of two sides are joined. */
export interface Join {
  /** The labels that have to be equal; undefined: all of them. */
  readonly on: readonly string[] | undefined;
  /** The labels that the left side, which may have many series, takes from the right one. Undefined: one to one. */
  readonly taken: readonly string[] | undefined;
}

export type Expression =
  | { readonly kind: 'number'; readonly value: number }
  | {
      readonly kind: 'series';
      readonly name: string;
      readonly matchers: readonly Matcher[];
      /** Over a time, for rates. */
      readonly isRange: boolean;
    }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Expression[] }
  | {
      readonly kind: 'aggregate';
      readonly name: string;
      readonly by: readonly string[] | undefined;
      readonly args: readonly Expression[];
    }
  | {
      readonly kind: 'binary';
      readonly operator: string;
      readonly left: Expression;
      readonly right: Expression;
      readonly join: Join;
    };

const aggregates = ['sum', 'count', 'max', 'min', 'topk'];

const token =
  /\s*(?:("(?:[^"\\]|\\.)*")|(\d+(?:\.\d+)?(?:e[+-]?\d+)?)|([a-zA-Z_:][a-zA-Z0-9_:]*)|(\[[^\]]*\])|(==|!=|>=|<=|=~|!~|[-+*/(){},=<>]))/y;

/** The operators, from the loosest to the tightest. */
const levels: readonly (readonly string[])[] = [
  ['or'],
  ['and', 'unless'],
  ['==', '!=', '>', '<', '>=', '<='],
  ['+', '-'],
  ['*', '/'],
];

/** Reads the part of PromQL that dashboards and alert rules use. @throws for anything else */
export function parsePromql(text: string): Expression {
  const words = wordsOf(text);
  let place = 0;
  const peek = (): string => words[place] ?? '';
  const next = (): string => words[place++] ?? '';
  const expect = (word: string): void => {
    const found = next();
    if (found !== word) throw new Error(`'${found}' in place of '${word}': ${text}`);
  };
  const list = <T>(end: string, item: () => T): readonly T[] => {
    const items: T[] = [];
    while (peek() !== end) {
      items.push(item());
      if (peek() !== end) expect(',');
    }
    expect(end);
    return items;
  };
  const names = (): readonly string[] => {
    expect('(');
    return list(')', next);
  };
  const join = (): Join => {
    let on: readonly string[] | undefined;
    let taken: readonly string[] | undefined;
    if (peek() === 'on') {
      next();
      on = names();
    }
    if (peek() === 'group_left') {
      next();
      taken = peek() === '(' ? names() : [];
    }
    return { on, taken };
  };
  const binary = (level: number): Expression => {
    const operators = levels[level];
    if (operators === undefined) return single();
    let left = binary(level + 1);
    while (operators.includes(peek())) {
      const operator = next();
      const how = join();
      left = { kind: 'binary', operator, left, right: binary(level + 1), join: how };
    }
    return left;
  };
  const single = (): Expression => {
    const word = next();
    if (word === '(') {
      const inner = binary(0);
      expect(')');
      return inner;
    }
    if (/^\d/.test(word)) return { kind: 'number', value: Number(word) };
    if (!/^[a-zA-Z_:]/.test(word)) throw new Error(`'${word}' is no expression: ${text}`);
    if (aggregates.includes(word)) return aggregate(word);
    if (peek() === '(') {
      next();
      return { kind: 'call', name: word, args: list(')', () => binary(0)) };
    }
    return series(word);
  };
  const aggregate = (name: string): Expression => {
    let by: readonly string[] | undefined;
    const readBy = (): void => {
      if (peek() !== 'by') return;
      next();
      by = names();
    };
    readBy();
    expect('(');
    const args = list(')', () => binary(0));
    readBy();
    return { kind: 'aggregate', name, by, args };
  };
  const series = (name: string): Expression => {
    let matchers: readonly Matcher[] = [];
    if (peek() === '{') {
      next();
      matchers = list('}', () => {
        const label = next();
        const by = next();
        if (!['=', '!=', '=~', '!~'].includes(by)) throw new Error(`'${by}' is no comparison: ${text}`);
        return { label, by: by as Matcher['by'], value: JSON.parse(next()) as string };
      });
    }
    const isRange = peek().startsWith('[');
    if (isRange) next();
    return { kind: 'series', name, matchers, isRange };
  };
  const whole = binary(0);
  if (place < words.length) throw new Error(`'${peek()}' is left: ${text}`);
  return whole;
}

function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < text.trimEnd().length) {
    const at = token.lastIndex;
    const found = token.exec(text);
    if (found === null) throw new Error(`unknown at ${at}: ${text}`);
    words.push(found[0].trim());
  }
  return words;
}
