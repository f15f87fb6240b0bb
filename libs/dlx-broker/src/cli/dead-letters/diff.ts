/** Lines of the two texts that are compared one by one; beyond it all of the changed part is shown as removed and added. */
const mostCells = 4_000_000;

/** Lines around a change that are shown. */
const context = 2;

interface Line {
  readonly mark: ' ' | '-' | '+';
  readonly text: string;
}

/** The changes from one text to another: lines with `-`, `+` or a space in front, and `...` for lines that are left out. */
export function diffOf(before: string, after: string): readonly string[] {
  const lines = compared(before.split('\n'), after.split('\n'));
  const shown: string[] = [];
  let last = -1;
  for (const [at, { mark, text }] of lines.entries()) {
    const near = lines.slice(Math.max(0, at - context), at + context + 1);
    if (near.every((line) => line.mark === ' ')) continue;
    if (at > last + 1) shown.push('...');
    shown.push(`${mark} ${text}`);
    last = at;
  }
  return last >= 0 && last < lines.length - 1 ? [...shown, '...'] : shown;
}

function compared(before: readonly string[], after: readonly string[]): readonly Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) end++;
  const changed = middle(before.slice(start, before.length - end), after.slice(start, after.length - end));
  const same = (text: string): Line => ({ mark: ' ', text });
  return [...before.slice(0, start).map(same), ...changed, ...before.slice(before.length - end).map(same)];
}

/** By the longest common subsequence. */
function middle(before: readonly string[], after: readonly string[]): readonly Line[] {
  const removed = (text: string): Line => ({ mark: '-', text });
  const added = (text: string): Line => ({ mark: '+', text });
  if (before.length * after.length > mostCells) return [...before.map(removed), ...after.map(added)];
  const width = after.length + 1;
  const common = new Uint32Array((before.length + 1) * width);
  const at = (one: number, other: number): number => common[one * width + other] ?? 0;
  for (let one = before.length - 1; one >= 0; one--) {
    for (let other = after.length - 1; other >= 0; other--) {
      common[one * width + other] =
        before[one] === after[other] ? at(one + 1, other + 1) + 1 : Math.max(at(one + 1, other), at(one, other + 1));
    }
  }
  const lines: Line[] = [];
  let [one, other] = [0, 0];
  while (one < before.length || other < after.length) {
    const [left, right] = [before[one], after[other]];
    if (left !== undefined && left === right) {
      lines.push({ mark: ' ', text: left });
      one++;
      other++;
    } else if (left !== undefined && (right === undefined || at(one + 1, other) >= at(one, other + 1))) {
      lines.push(removed(left));
      one++;
    } else {
      lines.push(added(right as string));
      other++;
    }
  }
  return lines;
}
