import type { OperatorFunction } from 'rxjs';
import { UndecodablePayloadError } from '../../platform/history/index.js';
import type { ConsumedLetter } from './consumed-letter.js';
import { whereAs, type WhereOptions } from './where.js';

/** A letter whose payload was decoded. Nothing checks that the payload has the type T. */
export interface DecodedLetter<T = unknown> extends ConsumedLetter<T> {
  readonly payload: T;
}

/** Passes letters whose body could be decoded. The option `otherwise` decides about the others, see {@link where}. */
export const whereDecoded = <T>(
  options?: WhereOptions<ConsumedLetter<T>>,
): OperatorFunction<ConsumedLetter<T>, DecodedLetter<T>> =>
  whereAs('whereDecoded', isDecoded<T>, options) as OperatorFunction<ConsumedLetter<T>, DecodedLetter<T>>;

const isDecoded = <T>(letter: ConsumedLetter<T>): letter is DecodedLetter<T> =>
  !(letter.payload instanceof UndecodablePayloadError);
