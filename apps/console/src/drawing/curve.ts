import type { Point } from './layout';

/** The path of a line that is level in each of its points, so that labels in them can be read. */
export function curve(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  let from = first;
  let path = `M${at(from)}`;
  for (const to of rest) {
    const middle = (from.x + to.x) / 2;
    path += `C${at({ x: middle, y: from.y })} ${at({ x: middle, y: to.y })} ${at(to)}`;
    from = to;
  }
  return path;
}

/** The path from the lower edge of a box and back to it: a message that returns to its queue at once. */
export function selfLoop({ x, y, width, height }: Point & { width: number; height: number }): string {
  const bottom = y + height / 2;
  const half = Math.min(36, width / 3);
  return `M${at({ x: x + half, y: bottom })}C${at({ x: x + half, y: bottom + 30 })} ${at({ x: x - half, y: bottom + 30 })} ${at({ x: x - half, y: bottom })}`;
}

const at = ({ x, y }: Point): string => `${Math.round(x * 10) / 10},${Math.round(y * 10) / 10}`;
