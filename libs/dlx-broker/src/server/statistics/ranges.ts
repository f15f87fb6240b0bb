import { badRequest, type Problem } from '../http/reply.js';

/** A requested range of time: its length and the interval of its samples, in milliseconds. */
export interface Range {
  readonly first: number;
  readonly last: number;
  readonly step: number;
}

/** The kinds of ranges, each with parameters of its own: `lengths_age` and `lengths_incr` for the lengths of queues, and so on. */
export type RangeKind = 'lengths' | 'msg_rates' | 'data_rates' | 'node_stats';

const mostSamples = 500;

/**
 * The range of a kind that a request asks for; undefined without its parameters.
 * @throws Problem 400 for an invalid range
 */
export function rangeIn(query: URLSearchParams, kind: RangeKind, now: number): Range | undefined {
  const age = integer(query.get(`${kind}_age`));
  const step = integer(query.get(`${kind}_incr`));
  if (age === undefined || step === undefined) return undefined;
  if (age <= 0 || step <= 0 || Math.floor(age / step) > mostSamples) throw invalid(age, step);
  const last = Math.floor(now / (step * 1000)) * step * 1000;
  return { first: last - age * 1000, last, step: step * 1000 };
}

/** A parameter that is no number counts as missing. */
const integer = (text: string | null): number | undefined =>
  text !== null && /^[+-]?\d+$/.test(text) ? Number(text) : undefined;

const invalid = (age: number, step: number): Problem =>
  badRequest(`Invalid range parameters: age ${age}, incr ${step}`);
