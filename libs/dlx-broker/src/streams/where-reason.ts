import type { MonoTypeOperatorFunction } from 'rxjs';
import type { DeathReason } from '../message/index.js';
import type { DeadLetter } from './dead-letter.js';
import { where, type WhereOptions } from './where.js';

/**
 * Lets through the letters whose latest death had this reason, or one of these: why they lie in the queue of the stream.
 * A letter that never died has none. What becomes of the others: `otherwise`, see {@link where}.
 */
export function whereReason<L extends DeadLetter>(
  reason: DeathReason | readonly DeathReason[],
  options?: WhereOptions<L>,
): MonoTypeOperatorFunction<L> {
  const wanted: readonly string[] = typeof reason === 'string' ? [reason] : reason;
  return where<L>(({ deaths: [latest] }) => latest !== undefined && wanted.includes(latest.reason), options);
}
