import { at, picture, rule, text } from './svg.js';

/** Something that dlx-broker is compared with. */
export interface Bar {
  readonly name: string;
  /** How many times better dlx-broker is: above 1 the bar goes to the right, below 1 to the left. */
  readonly ratio: number;
  readonly shown: string;
  /** A limit and no alternative, drawn in grey. */
  readonly isLimit: boolean;
}

export interface Group {
  readonly title: string;
  readonly bars: readonly Bar[];
}

const width = 860;
const left = 300;
const right = 70;
const head = 64;
const titleHeight = 22;
const barHeight = 20;
const foot = 20;

/** Bars on a logarithmic scale, grouped by workload. */
export function ratios(groups: readonly Group[], title: string, below: string): string {
  const all = groups.flatMap(({ bars }) => bars.map(({ ratio }) => ratio));
  const from = Math.min(-1, Math.floor(Math.log10(Math.min(...all))));
  const to = Math.max(1, Math.ceil(Math.log10(Math.max(...all))));
  const x = (ratio: number): number => left + ((width - left - right) * (Math.log10(ratio) - from)) / (to - from);
  const bottom = head + groups.reduce((sum, { bars }) => sum + titleHeight + bars.length * barHeight + 4, 0);
  const parts = [text(16, 24, title, 'title'), text(16, 42, below, 'soft')];
  for (let power = from; power <= to; power++) {
    parts.push(text(x(10 ** power), bottom + 14, `${(10 ** power).toLocaleString('en')}x`, 'soft', 'middle'));
  }
  let top = head;
  for (const group of groups) {
    parts.push(text(16, top + 15, group.title));
    top += titleHeight;
    // The lines leave the titles free.
    for (let power = from; power <= to; power++) {
      const [at, style] = [x(10 ** power), power === 0 ? 'axis' : 'grid'];
      parts.push(rule(style, at, top, at, top + group.bars.length * barHeight));
    }
    for (const { name, ratio, shown, isLimit } of group.bars) {
      const [start, end] = [x(Math.min(1, ratio)), x(Math.max(1, ratio))];
      const width = Math.max(1, end - start);
      parts.push(text(left - 16, top + 13, name, 'soft', 'end'));
      parts.push(
        `<rect class="fill${isLimit ? 1 : 0}" x="${at(start)}" y="${top + 3}" width="${at(width)}" height="${barHeight - 7}" rx="2"/>`,
      );
      // Where the bar goes to the left, there is room on the right.
      parts.push(text(end + 6, top + 13, shown, 'soft'));
      top += barHeight;
    }
    top += 4;
  }
  return picture(width, bottom + foot + 8, title, parts);
}
