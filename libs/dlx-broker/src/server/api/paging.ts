import type { MatchCost, Patterns } from '../../engine/broker/index.js';
import { Rows } from '../http/json.js';
import { badRequest, Problem } from '../http/reply.js';

/** A page of a list, counted from 1. */
export interface Page {
  readonly number: number;
  readonly size: number;
  /** Part of the name, or a pattern; undefined for all. */
  readonly name: string | undefined;
  readonly useRegex: boolean;
}

const defaultPageSize = 100;
const largestPageSize = 500;

/**
 * The requested page; undefined without the parameter `page`, and then `name` has no effect either.
 * @throws Problem 400 for an invalid page
 */
export function pageIn(query: URLSearchParams): Page | undefined {
  const number = integer(query.get('page'));
  const asked = integer(query.get('page_size'));
  if (number === undefined) return undefined;
  if (number < 1 || (asked !== undefined && (asked < 1 || asked > largestPageSize))) {
    const reason = `Invalid pagination parameters: page number ${number}, page size ${asked ?? 'undefined'}`;
    throw new Problem(400, 'invalid_pagination_parameters', reason);
  }
  const name = query.get('name') ?? '';
  const useRegex = query.get('use_regex') === 'true';
  return { number, size: asked ?? defaultPageSize, name: name === '' ? undefined : name, useRegex };
}

const tooExpensive = (steps: number, count: number): Problem =>
  badRequest(`the pattern in 'name' takes more than ${steps} steps for ${count} names: write a simpler pattern`);

const invalid = (): Problem => badRequest('Pagination parameters are invalid');

function integer(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (!/^[+-]?\d+$/.test(text)) throw invalid();
  return Number(text);
}

/** The most steps of a pattern for all names of a request: a fixed number, and a number for each name. */
const stepLimit = { all: 1_000_000, each: 200 };

/**
 * Makes the filter of names, which ignores case. The steps of a pattern for all names together are limited.
 * @param count of names
 * @throws Problem 400 when the pattern is none; the filter itself throws it when the pattern takes too many steps
 */
export function nameFilter(
  { name = '', useRegex }: Page,
  patterns: Patterns,
  count: number,
): (name: string) => boolean {
  if (!useRegex) {
    const wanted = name.toLowerCase();
    return (text) => text.toLowerCase().includes(wanted);
  }
  try {
    const matcher = patterns.compile(`(?i)${name}`);
    const cost: MatchCost = { steps: 0 };
    const most = stepLimit.all + stepLimit.each * count;
    return (text) => {
      const matched = matcher.matches(text, cost);
      if (cost.steps > most) throw tooExpensive(most, count);
      return matched;
    };
  } catch {
    throw invalid();
  }
}

/** The items of a page; none after the last page. */
const onPage = <T>(items: readonly T[], { number, size }: Page): readonly T[] =>
  items.slice((number - 1) * size, number * size);

/** @param found the number of items after the filter @throws Problem 400 for a page after the last one */
export function cut<T>(items: readonly T[], page: Page, total: number, show: (item: T) => unknown): object {
  const { number, size } = page;
  const start = (number - 1) * size;
  if (start > items.length) {
    const reason = `Page out of range, page: ${number} page size: ${size}, len: ${items.length}`;
    throw new Problem(400, 'page_out_of_range', reason);
  }
  const shown = onPage(items, page);
  return {
    filtered_count: items.length,
    item_count: shown.length,
    items: new Rows(shown, show),
    page: number,
    page_count: Math.ceil(items.length / size),
    page_size: size,
    total_count: total,
  };
}
