import type { Cell } from '../format/cell.js';

/** An object as the management API writes it. */
export type Row = Readonly<Record<string, unknown>>;

/** A column of rabbitmqctl, and its value in an object of the management API. */
export interface Column {
  readonly name: string;
  /** Shown unless the command names columns. */
  readonly byDefault?: true;
  of(row: Row): Cell;
}

/** The key of the same name, or another one. */
export const plain = (name: string, key: string = name): Column => ({ name, of: (row) => cellOf(row[key]) });

/** @returns undefined for a value that a cell cannot show */
export function cellOf(value: unknown): Cell {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'boolean':
      return value;
    default:
      return undefined;
  }
}

export const objectOf = (value: unknown): Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Row) : {};

export const shown = (column: Column): Column => ({ ...column, byDefault: true });
