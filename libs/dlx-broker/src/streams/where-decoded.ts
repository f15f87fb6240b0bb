import type { OperatorFunction } from 'rxjs';
import { UndecodablePayloadError } from '../message/index.js';
import type { DeadLetter } from './dead-letter.js';
import { whereAs, type WhereOptions } from './where.js';

/** A letter whose payload is known to be decoded. That it has the type T is what the program says: nothing checks it. */
export interface DecodedLetter<T = unknown> extends DeadLetter<T> {
  readonly payload: T;
}

/** Passes on letters whose body could be decoded. What becomes of the others: `otherwise`, see {@link where}. */
export const whereDecoded = <T>(
  options?: WhereOptions<DeadLetter<T>>,
): OperatorFunction<DeadLetter<T>, DecodedLetter<T>> =>
  whereAs('whereDecoded', isDecoded<T>, options) as OperatorFunction<DeadLetter<T>, DecodedLetter<T>>;

const isDecoded = <T>(letter: DeadLetter<T>): letter is DecodedLetter<T> =>
  !(letter.payload instanceof UndecodablePayloadError);
