/** A line of a comparison. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** The most pairs of lines that are compared. Beyond it, everything between the equal ends is replaced. */
const mostPairs = 4_000_000;

/** Compares two texts line by line: the fewest removed and added lines, removed ones first. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const old = before.split('\n');
  const now = after.split('\n');
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const same = (text: string): DiffLine => ({ kind: 'same', text });
  return [
    ...old.slice(0, start).map(same),
    ...middle(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...old.slice(old.length - end).map(same),
  ];
}

/** The longest common subsequence, from a table of lengths. */
function middle(old: readonly string[], now: readonly string[]): readonly DiffLine[] {
  const removed = (text: string): DiffLine => ({ kind: 'removed', text });
  const added = (text: string): DiffLine => ({ kind: 'added', text });
  if (old.length * now.length > mostPairs) return [...old.map(removed), ...now.map(added)];
  const width = now.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] as number;
  for (let row = old.length - 1; row >= 0; row--) {
    for (let column = now.length - 1; column >= 0; column--) {
      lengths[row * width + column] =
        old[row] === now[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const lines: DiffLine[] = [];
  let row = 0;
  let column = 0;
  while (row < old.length || column < now.length) {
    if (row < old.length && column < now.length && old[row] === now[column]) {
      lines.push({ kind: 'same', text: old[row] as string });
      row++;
      column++;
    } else if (row < old.length && (column === now.length || at(row + 1, column) >= at(row, column + 1))) {
      lines.push(removed(old[row++] as string));
    } else {
      lines.push(added(now[column++] as string));
    }
  }
  return lines;
}

/** A run of lines that is shown, or the number of equal lines that are not. */
export type DiffPart = { readonly lines: readonly DiffLine[] } | { readonly skipped: number };

/** Leaves out equal lines that are far from a change. @param context the equal lines that stay around a change */
export function withContext(lines: readonly DiffLine[], context = 3): readonly DiffPart[] {
  const isNear = new Uint8Array(lines.length);
  for (const [index, { kind }] of lines.entries()) {
    if (kind !== 'same') isNear.fill(1, Math.max(0, index - context), index + context + 1);
  }
  const parts: DiffPart[] = [];
  for (let start = 0; start < lines.length;) {
    let end = start;
    while (end < lines.length && isNear[end] === isNear[start]) end++;
    parts.push(isNear[start] === 1 ? { lines: lines.slice(start, end) } : { skipped: end - start });
    start = end;
  }
  return parts;
}
