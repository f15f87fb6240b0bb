import { isDeepStrictEqual } from 'node:util';
import type { Seen } from './world.js';

/** The first difference between the two brokers. */
export interface Difference {
  /** Index of the step. */
  readonly at: number;
  readonly engine: unknown;
  readonly other: unknown;
}

/**
 * What is made equal before comparing, both because of what RabbitMQ 3.10.8 shows or a race:
 * - V2: with three or more pairs the order of `x-death` is not the documented one, so such histories are compared as sets.
 * - Confirms of one burst may come in any order and grouping (rule K3): what counts is which were acked and which
 *   refused.
 */
export function comparable(seen: Seen): unknown {
  return sorted(JSON.parse(JSON.stringify(seen, bigints)));
}

export const isEqual = (one: unknown, other: unknown): boolean => isDeepStrictEqual(one, other);

const bigints = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) {
    if (value[0] === 'x-death' && value[1] === 'A' && Array.isArray(value[2]) && value[2].length > 2) {
      const entries = value[2].map((entry) => JSON.stringify(entry)).sort();
      return ['x-death', 'A', entries.map((entry) => JSON.parse(entry) as unknown)];
    }
    return value.map(sorted);
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, sorted(inner)]));
}

/** The kind of a difference, so that shrinking keeps it. */
export function kindOf({ engine, other }: Difference, step: string): string {
  const seen = [engine, other] as [Record<string, unknown>, Record<string, unknown>];
  const parts = Object.keys(seen[0]).filter((part) => !isEqual(seen[0][part], seen[1][part]));
  const codes = seen.map(({ outcome }) => (outcome as { code?: number } | undefined)?.code ?? 'fine');
  return [step, ...(parts.includes('outcome') ? ['outcome', ...codes] : parts.slice(0, 1))].join(' ');
}
