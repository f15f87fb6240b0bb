import { at, picture, roundedUp, rule, text } from './svg.js';

/** Figures over time. */
export interface Panel {
  readonly title: string;
  readonly unit: string;
  /** One or two lines, each with its points: minutes and value. */
  readonly lines: readonly { readonly name: string; readonly points: readonly (readonly [number, number])[] }[];
}

export interface LinesOptions {
  readonly title: string;
  readonly minutes: number;
  /** Vertical lines, at minutes. */
  readonly marks: readonly number[];
  /** A part that is shaded, in minutes. */
  readonly shaded: { readonly from: number; readonly to: number };
  readonly foot: string;
}

const width = 860;
const left = 70;
const right = 20;
const head = 44;
const plot = 84;
const panelHeight = 128;
const foot = 46;

/** Panels below each other with one axis of time. Every scale of values begins at zero. */
export function lines(panels: readonly Panel[], options: LinesOptions): string {
  const { minutes } = options;
  const x = (minute: number): number => left + ((width - left - right) * minute) / minutes;
  const height = head + panels.length * panelHeight + foot;
  const parts = [text(left, 26, options.title, 'title')];
  for (const [index, panel] of panels.entries()) parts.push(...drawn(panel, head + index * panelHeight, x, options));
  const bottom = head + panels.length * panelHeight;
  const step = roundedUp(minutes / 12);
  for (let minute = 0; minute <= minutes * 1.0001; minute += step) {
    parts.push(text(x(minute), bottom + 2, String(Math.round(minute * 100) / 100), 'soft', 'middle'));
  }
  parts.push(text(left, bottom + 28, options.foot, 'soft'));
  return picture(width, height, options.title, parts);
}

function drawn(panel: Panel, top: number, x: (minute: number) => number, options: LinesOptions): string[] {
  const [above, below] = [top + 26, top + 26 + plot];
  const most = roundedUp(
    Math.max(...panel.lines.flatMap(({ points }) => points.map(([, value]) => value)).filter(Number.isFinite)),
  );
  const y = (value: number): number => below - (plot * value) / most;
  const { from, to } = options.shaded;
  const shade = `<rect class="area" x="${at(x(from))}" y="${at(above)}" width="${at(x(to) - x(from))}" height="${plot}"/>`;
  const parts = [text(left, top + 14, `${panel.title}, ${panel.unit}`), shade];
  for (const part of [0, 0.5, 1]) {
    parts.push(rule('grid', left, y(most * part), width - right, y(most * part)));
    parts.push(text(left - 8, y(most * part) + 4, String(Number((most * part).toPrecision(3))), 'soft', 'end'));
  }
  parts.push(...options.marks.map((minute) => rule('mark', x(minute), above, x(minute), below)));
  let nameAt = width - right;
  for (const [index, { name, points }] of [...panel.lines.entries()].toReversed()) {
    const known = points.filter(([, value]) => Number.isFinite(value));
    const path = known.map(([minute, value]) => `${at(x(minute))},${at(y(value))}`).join(' ');
    parts.push(`<polyline class="line line${index}" points="${path}"/>`);
    if (panel.lines.length === 1) continue;
    parts.push(text(nameAt, top + 14, name, `name${index}`, 'end'));
    nameAt -= name.length * 7 + 14;
  }
  return parts;
}
