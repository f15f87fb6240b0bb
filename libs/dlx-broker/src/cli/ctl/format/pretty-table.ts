import type { Listing } from '../command.js';
import { shownLines } from '../../../host/index.js';
import { bold } from './bold.js';
import { cellText } from './cell.js';

/** Line-drawing characters: between these escape sequences a terminal shows letters as lines. */
const drawn = (letters: string): string => `\u001b(0${letters}\u001b(B`;

/** A table with borders. */
export function prettyListing({ columns, rows, streamed }: Listing): string | undefined {
  if (rows.length === 0) return streamed ? undefined : drawTable(['Output'], [['[]']]);
  return drawTable(
    columns,
    rows.map((row) => row.map(cellText)),
  );
}

export const prettyText = (text: string): string => drawTable(['Output'], [[shownLines(text)]]);

function drawTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = columns.map((name, at) => Math.max(name.length, ...rows.map((row) => lengthOf(row[at] ?? ''))));
  const rule = (left: string, between: string, right: string): string =>
    drawn(left + widths.map((width) => 'q'.repeat(width + 2)).join(between) + right);
  const bar = drawn('x');
  const line = (cells: readonly string[], look: (text: string) => string): string =>
    `${bar} ${cells.map((text, at) => look(text) + ' '.repeat((widths[at] as number) - lengthOf(text))).join(` ${bar} `)} ${bar}`;
  const body = rows.flatMap((row) => [rule('t', 'n', 'u'), line(row, (text) => text)]);
  return [rule('l', 'w', 'k'), line(columns, bold), ...body, rule('m', 'v', 'j')].join('\n');
}

/** The length in code points, not in UTF-16 units. */
const lengthOf = (text: string): number => [...text].length;
