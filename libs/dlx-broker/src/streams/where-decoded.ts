import type { OperatorFunction } from 'rxjs';
import { UndecodablePayloadError } from '../message/index.js';
import type { DeadLetter } from './dead-letter.js';
import { whereAs, type WhereOptions } from './where.js';

/** A letter whose payload was decoded. Nothing checks that the payload has the type T. */
export interface DecodedLetter<T = unknown> extends DeadLetter<T> {
  readonly payload: T;
}

/** Passes letters whose body could be decoded. The option `otherwise` decides about the others, see {@link where}. */
export const whereDecoded = <T>(
  options?: WhereOptions<DeadLetter<T>>,
): OperatorFunction<DeadLetter<T>, DecodedLetter<T>> =>
  whereAs('whereDecoded', isDecoded<T>, options) as OperatorFunction<DeadLetter<T>, DecodedLetter<T>>;

const isDecoded = <T>(letter: DeadLetter<T>): letter is DecodedLetter<T> =>
  !(letter.payload instanceof UndecodablePayloadError);
