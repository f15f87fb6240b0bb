import type { Cell } from '../format/cell.js';

/** An object as the management API writes it. */
export type Row = Readonly<Record<string, unknown>>;

/** A column of rabbitmqctl, and where the management API has it. */
export interface Column {
  readonly name: string;
  /** Shown when no column is asked for. */
  readonly byDefault?: true;
  of(row: Row): Cell;
}

/** The key of the same name, or another one. */
export const plain = (name: string, key: string = name): Column => ({ name, of: (row) => cellOf(row[key]) });

/** @returns what cannot be shown in a cell as undefined */
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
