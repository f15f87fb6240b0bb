import type { Point } from './layout';

/** The part of the way between two neighbours by which a bend pulls at its line: more is rounder. */
const roundness = 0.16;

/** The path of a smooth line through all points. */
export function curve(points: readonly Point[]): string {
  const [first] = points;
  if (first === undefined) return '';
  let path = `M${at(first)}`;
  for (let index = 1; index < points.length; index++) {
    const [before, from, to, after] = [-2, -1, 0, 1].map(
      (step) => points[Math.min(points.length - 1, Math.max(0, index + step))],
    ) as [Point, Point, Point, Point];
    const leave = { x: from.x + (to.x - before.x) * roundness, y: from.y + (to.y - before.y) * roundness };
    const arrive = { x: to.x - (after.x - from.x) * roundness, y: to.y - (after.y - from.y) * roundness };
    path += `C${at(leave)} ${at(arrive)} ${at(to)}`;
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
