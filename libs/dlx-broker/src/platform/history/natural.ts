import type { FieldTable } from '../../engine/message/index.js';

/** The largest number an int32 header can carry, with room to add one. */
export const largestCount = 2_147_483_646;

/** A whole number from 0 on in a header, at most {@link largestCount}; undefined for any other value. */
export function naturalAt(headers: FieldTable | undefined, name: string): number | undefined {
  const value = headers?.get(name)?.value;
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? Math.min(value, largestCount) : undefined;
}
