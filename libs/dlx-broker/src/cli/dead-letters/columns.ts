import { shownText } from '../../platform/index.js';

/** A table: each column is as wide as its longest cell, with two spaces between. @param head the first row, if any */
export function prettyColumns(head: readonly string[] | undefined, rows: readonly (readonly string[])[]): string {
  const lines = [...(head === undefined ? [] : [head]), ...rows].map((row) => row.map((cell) => shownText(cell)));
  const widths = (lines[0] ?? []).map((_, at) => Math.max(...lines.map((line) => [...(line[at] ?? '')].length)));
  return lines
    .map((line) =>
      line
        .map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - [...cell].length))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
