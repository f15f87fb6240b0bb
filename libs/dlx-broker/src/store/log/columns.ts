type Column = Uint8Array | Uint32Array | Float64Array;

/** A longer column with the same beginning. */
export function longer<T extends Column>(column: T, length: number): T {
  const copy = new (column.constructor as new (size: number) => T)(length);
  copy.set(column);
  return copy;
}

/** Rows at first; columns are then doubled. */
export const firstRows = 1024;
