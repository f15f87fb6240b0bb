import type { Row } from './listing.js';

/** A row without one of its columns. */
export const without = (row: Row, column: string): Row =>
  Object.fromEntries(Object.entries(row).filter(([key]) => key !== column));
