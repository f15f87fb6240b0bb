import { StringDecoder } from 'node:string_decoder';
import { shownText } from '../platform/index.js';

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

/** A column of virtual hosts, unless all rows are of one. */
export function vhostColumn<T extends { readonly vhost: string | null }>(
  rows: readonly T[],
): readonly ((row: T) => string)[] {
  const [first] = rows;
  return rows.some(({ vhost }) => vhost !== first?.vhost) ? [({ vhost }) => vhost ?? 'several'] : [];
}

/** A time of the API (milliseconds since 1970) in UTC; empty if there is none. */
export const when = (time: number | null | undefined): string =>
  time === null || time === undefined
    ? ''
    : new Date(time)
        .toISOString()
        .replace('T', ' ')
        .replace(/\.000Z$|Z$/, '');

/** A string in one line, cut at a length. */
export function oneLine(text: string, length: number): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}

/** Puts lines together from the parts in which they come. */
export class Lines {
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';
  #count = 0;

  /** Complete lines so far. */
  get count(): number {
    return this.#count;
  }

  /** The beginning of a line that is not complete yet. */
  get rest(): string {
    return this.#rest;
  }

  /** @returns the lines that this part completes, each with its end; empty if it completes none */
  add(part: Buffer): string {
    const text = this.#decoder.write(part);
    const end = text.lastIndexOf('\n') + 1;
    if (end === 0) {
      this.#rest += text;
      return '';
    }
    const complete = this.#rest + text.slice(0, end);
    this.#rest = text.slice(end);
    for (let at = complete.indexOf('\n'); at >= 0; at = complete.indexOf('\n', at + 1)) this.#count++;
    return complete;
  }
}
