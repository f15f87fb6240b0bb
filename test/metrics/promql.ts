import type { Exposition } from './exposition.js';
import { type Expression, type Join, type Matcher, parsePromql } from './promql-parser.js';

/** A value and the labels that it has. */
export interface Value {
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

/** Two scrapes of the same page, so many seconds apart. */
export interface Scrapes {
  readonly first: Exposition;
  readonly last: Exposition;
  readonly seconds: number;
  /** What the scrape configuration adds to each series. */
  readonly target: Readonly<Record<string, string>>;
}

type Vector = readonly Value[];

/**
 * Evaluates a query at the last scrape. Rates are over both scrapes: a series that is only in the last one has none.
 * @throws for what this evaluator does not know, and for what Prometheus refuses: many series on both sides, labels that differ
 */
export function evaluate(query: string, scrapes: Scrapes): Vector {
  const found = valueOf(parsePromql(query), scrapes);
  return typeof found === 'number' ? [{ labels: new Map(), value: found }] : found;
}

function valueOf(expression: Expression, scrapes: Scrapes): Vector | number {
  switch (expression.kind) {
    case 'number':
      return expression.value;
    case 'series':
      if (expression.isRange) throw new Error(`${expression.name} is a range`);
      return selected(scrapes.last, expression.name, expression.matchers, scrapes);
    case 'call':
      return called(expression.name, expression.args, scrapes);
    case 'aggregate':
      return aggregated(expression, scrapes);
    case 'binary':
      return joined(
        expression.operator,
        expression.join,
        valueOf(expression.left, scrapes),
        valueOf(expression.right, scrapes),
      );
  }
}

function selected(page: Exposition, name: string, matchers: readonly Matcher[], { target }: Scrapes): Vector {
  const values: Value[] = [];
  for (const sample of page.samples) {
    if (sample.name !== name) continue;
    const labels = new Map([...Object.entries(target), ...sample.labels]);
    if (matchers.every((matcher) => isMatch(matcher, labels.get(matcher.label) ?? ''))) {
      values.push({ labels: new Map([['__name__', name], ...labels]), value: sample.value });
    }
  }
  return values;
}

function isMatch({ by, value }: Matcher, found: string): boolean {
  if (by === '=') return found === value;
  if (by === '!=') return found !== value;
  return new RegExp(`^(?:${value})$`).test(found) === (by === '=~');
}

const overTime = ['rate', 'irate', 'increase'];

function called(name: string, args: readonly Expression[], scrapes: Scrapes): Vector {
  if (overTime.includes(name)) return changes(name, args[0], scrapes);
  if (name === 'histogram_quantile') return quantiles(numberOf(args[0]), vectorOf(args[1], scrapes));
  throw new Error(`unknown function ${name}`);
}

function changes(name: string, range: Expression | undefined, scrapes: Scrapes): Vector {
  if (range?.kind !== 'series' || !range.isRange) throw new Error(`${name} needs a range`);
  const type =
    scrapes.last.types.get(range.name) ?? scrapes.last.types.get(range.name.replace(/_(bucket|sum|count)$/, ''));
  if (type !== undefined && type !== 'counter' && type !== 'histogram')
    throw new Error(`${name} of a ${type}: ${range.name}`);
  const before = new Map(
    selected(scrapes.first, range.name, range.matchers, scrapes).map(({ labels, value }) => [keyOf(labels), value]),
  );
  return selected(scrapes.last, range.name, range.matchers, scrapes).flatMap(({ labels, value }) => {
    const earlier = before.get(keyOf(labels));
    if (earlier === undefined) return [];
    const grown = value < earlier ? value : value - earlier; // below it the counter has begun anew
    return [{ labels: unnamed(labels), value: name === 'increase' ? grown : grown / scrapes.seconds }];
  });
}

/** Prometheus' way: linear within a bucket. */
function quantiles(quantile: number, buckets: Vector): Vector {
  const groups = grouped(
    buckets,
    [...new Set(buckets.flatMap(({ labels }) => [...labels.keys()]))].filter((name) => name !== 'le'),
  );
  return groups.map(({ labels, values }) => {
    const points = values
      .map((each) => ({ bound: boundOf(each.labels.get('le') ?? ''), count: each.value }))
      .sort((one, other) => one.bound - other.bound);
    const all = points.at(-1);
    if (all?.bound !== Infinity) throw new Error('a histogram without +Inf');
    const rank = quantile * all.count;
    const place = points.findIndex(({ count }) => count >= rank);
    const { bound, count } = points[place]!;
    const { bound: from, count: below } = points[place - 1] ?? { bound: 0, count: 0 };
    if (all.count === 0) return { labels, value: NaN };
    if (bound === Infinity) return { labels, value: from };
    return { labels, value: from + ((bound - from) * (rank - below)) / (count - below) };
  });
}

const boundOf = (text: string): number => (text === '+Inf' ? Infinity : Number(text));

function aggregated({ name, by = [], args }: Expression & { readonly kind: 'aggregate' }, scrapes: Scrapes): Vector {
  if (name === 'topk') {
    const most = numberOf(args[0]);
    return [...vectorOf(args[1], scrapes)].sort((one, other) => other.value - one.value).slice(0, most);
  }
  return grouped(vectorOf(args[0], scrapes), by).map(({ labels, values }) => {
    const numbers = values.map(({ value }) => value);
    if (name === 'sum') return { labels, value: numbers.reduce((sum, value) => sum + value, 0) };
    if (name === 'count') return { labels, value: numbers.length };
    return { labels, value: name === 'max' ? Math.max(...numbers) : Math.min(...numbers) };
  });
}

interface Group {
  readonly labels: ReadonlyMap<string, string>;
  readonly values: Value[];
}

function grouped(values: Vector, by: readonly string[]): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const value of values) {
    const labels = only(value.labels, by);
    const group = groups.get(keyOf(labels)) ?? { labels, values: [] };
    groups.set(keyOf(labels), group);
    group.values.push(value);
  }
  return [...groups.values()];
}

function joined(operator: string, { on, taken }: Join, left: Vector | number, right: Vector | number): Vector | number {
  const act = (one: number, other: number): number | undefined => operate(operator, one, other);
  if (typeof left === 'number' && typeof right === 'number') return act(left, right) ?? NaN;
  const keep = (labels: ReadonlyMap<string, string>) => (isComparison(operator) ? labels : unnamed(labels));
  if (typeof left === 'number' || typeof right === 'number') {
    const [vector, calculate] =
      typeof left === 'number'
        ? [right as Vector, (value: number) => act(left, value)]
        : [left, (value: number) => act(value, right as number)];
    return vector.flatMap(({ labels, value }) => present(keep(labels), calculate(value)));
  }
  const keyFor = (labels: ReadonlyMap<string, string>): string =>
    keyOf(on === undefined ? unnamed(labels) : only(labels, on));
  const others = new Map<string, Value>();
  for (const value of right) {
    const key = keyFor(value.labels);
    if (others.has(key) && operator !== 'and' && operator !== 'unless')
      throw new Error(`${operator}: many series on the right for ${key}`);
    others.set(key, value);
  }
  if (operator === 'and' || operator === 'unless') {
    return left.filter(({ labels }) => others.has(keyFor(labels)) === (operator === 'and'));
  }
  if (operator === 'or')
    return [...left, ...right.filter(({ labels }) => !left.some((one) => keyFor(one.labels) === keyFor(labels)))];
  const met = new Set<string>();
  return left.flatMap(({ labels, value }) => {
    const key = keyFor(labels);
    const other = others.get(key);
    if (other === undefined) return [];
    if (taken === undefined && met.has(key)) throw new Error(`${operator}: many series on the left for ${key}`);
    met.add(key);
    const all = new Map(keep(labels));
    for (const name of taken ?? []) all.set(name, other.labels.get(name) ?? '');
    return present(taken === undefined && on !== undefined ? only(all, on) : all, act(value, other.value));
  });
}

const present = (labels: ReadonlyMap<string, string>, value: number | undefined): Vector =>
  value === undefined ? [] : [{ labels, value }];

const isComparison = (operator: string): boolean => ['==', '!=', '>', '<', '>=', '<='].includes(operator);

/** A comparison keeps the left value or nothing. */
function operate(operator: string, one: number, other: number): number | undefined {
  switch (operator) {
    case '+':
      return one + other;
    case '-':
      return one - other;
    case '*':
      return one * other;
    case '/':
      return one / other;
    case '>':
      return one > other ? one : undefined;
    case '<':
      return one < other ? one : undefined;
    case '>=':
      return one >= other ? one : undefined;
    case '<=':
      return one <= other ? one : undefined;
    case '==':
      return one === other ? one : undefined;
    case '!=':
      return one !== other ? one : undefined;
    default:
      throw new Error(`unknown operator ${operator}`);
  }
}

function vectorOf(expression: Expression | undefined, scrapes: Scrapes): Vector {
  const value = expression === undefined ? undefined : valueOf(expression, scrapes);
  if (value === undefined || typeof value === 'number') throw new Error('series are wanted');
  return value;
}

function numberOf(expression: Expression | undefined): number {
  if (expression?.kind !== 'number') throw new Error('a number is wanted');
  return expression.value;
}

const keyOf = (labels: ReadonlyMap<string, string>): string =>
  JSON.stringify([...labels].filter(([, value]) => value !== '').sort(([one], [other]) => (one < other ? -1 : 1)));

const only = (labels: ReadonlyMap<string, string>, names: readonly string[]): ReadonlyMap<string, string> =>
  new Map(names.flatMap((name) => (labels.has(name) ? [[name, labels.get(name)!] as const] : [])));

const unnamed = (labels: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  new Map([...labels].filter(([name]) => name !== '__name__'));
