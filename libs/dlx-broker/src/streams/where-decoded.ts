import type { OperatorFunction } from 'rxjs';
import type { DeadLetter } from './dead-letter.js';
import { Undecodable } from './payload.js';
import { where, type WhereOptions } from './where.js';

/** A letter whose payload is known to be decoded. */
export type DecodedLetter<T> = DeadLetter<T> & { readonly payload: T };

/** Lets through the letters whose body could be decoded. What becomes of the others: `otherwise`, see {@link where}. */
export const whereDecoded = <T>(options?: WhereOptions<T>): OperatorFunction<DeadLetter<T>, DecodedLetter<T>> =>
  where<T>(({ payload }) => !(payload instanceof Undecodable), options) as OperatorFunction<
    DeadLetter<T>,
    DecodedLetter<T>
  >;
