import { BadArguments, exit } from './exit.js';
import type { Listing } from './command.js';
import type { Column, Row } from './columns/column.js';
import type { Cell } from './format/cell.js';

/** The columns that the arguments name, in this order and each once; without arguments the default ones. @throws BadArguments */
export function chosen(columns: readonly Column[], args: readonly string[]): readonly Column[] {
  const names = args.flatMap((arg) => arg.split(',')).map((name) => name.trim());
  const asked = [...new Set(names)].filter((name) => name !== '');
  if (asked.length === 0) return columns.filter((column) => column.byDefault === true);
  const unknown = asked.filter((name) => !columns.some((column) => column.name === name));
  if (unknown.length > 0) throw new BadArguments(exit.usage, `Info key(s) ${unknown.join(',')} are not supported`);
  return asked.map((name) => columns.find((column) => column.name === name) as Column);
}

/** A list of the API as a table of these columns. */
export const listingOf = (columns: readonly Column[], args: readonly string[], rows: readonly Row[]): Listing => {
  const asked = chosen(columns, args);
  return {
    columns: asked.map(({ name }) => name),
    rows: rows.map((row) => asked.map((column) => column.of(row))),
    streamed: true,
  };
};

/** A table with fixed columns. */
export const fixedListing = (columns: readonly string[], rows: readonly (readonly Cell[])[]): Listing => ({
  columns,
  rows,
  streamed: false,
});
