import { median } from '../workload.js';

/** Processor times of one operation, or one run, of both commits, pair by pair, in microseconds. */
export interface Pairs {
  readonly base: readonly number[];
  readonly head: readonly number[];
}

export interface Verdict {
  /** The median of the ratios of pairs: 1.2 is 20 % more processor time. */
  readonly ratio: number;
  readonly least: number;
  readonly most: number;
  readonly says: 'slower' | 'faster' | 'same';
}

/** A median above 1 + this is a regression. */
export const limit = 0.1;

/** @param pairs at least one */
export function verdictOf({ base, head }: Pairs): Verdict {
  const ratios = base.map((value, index) => (head[index] as number) / value);
  const ratio = median(ratios);
  const says = ratio > 1 + limit ? 'slower' : ratio < 1 / (1 + limit) ? 'faster' : 'same';
  return { ratio, least: Math.min(...ratios), most: Math.max(...ratios), says };
}
