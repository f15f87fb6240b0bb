import { type ByteReader, type FieldTable, UnknownFieldType } from '../../engine/message/index.js';
import { readTable as read, readTableBody as readBody } from '../../engine/message/index.js';
import { WireError } from './wire-error.js';

/** Reads a field table with its length in front (rule T8). @throws Malformed, or WireError 541 for an unknown type */
export const readTable = (from: ByteReader): FieldTable => orInternalError(() => read(from));

/** The rest of the bytes as a table without a length, as AMQPLAIN has it. @throws Malformed, or WireError 541 */
export const readTableBody = (from: ByteReader): FieldTable => orInternalError(() => readBody(from));

/** Makes WireError 541 of an unknown field type, as RabbitMQ does. */
export function orInternalError<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof UnknownFieldType) throw new WireError('INTERNAL_ERROR', error.message);
    throw error;
  }
}
