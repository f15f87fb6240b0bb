/** Pictures in SVG without a library. They have colours of their own for light and for dark pages, and carry their background along. */

export const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const style = `
  text { font: 12px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif; fill: #1f2328; }
  .title { font-weight: 600; font-size: 13px; }
  .soft { fill: #59636e; font-size: 11px; }
  .page { fill: #ffffff; stroke: #d1d9e0; }
  .grid { stroke: #d1d9e0; stroke-width: 1; }
  .axis { stroke: #59636e; stroke-width: 1; }
  .mark { stroke: #8c959f; stroke-width: 1; stroke-dasharray: 3 3; }
  .area { fill: #eaeef2; }
  .fill0 { fill: #0969da; } .fill1 { fill: #8c959f; }
  .line { fill: none; stroke-width: 1.5; stroke-linejoin: round; }
  .line0 { stroke: #0969da; } .line1 { stroke: #bc4c00; }
  .name0 { fill: #0969da; font-size: 11px; } .name1 { fill: #bc4c00; font-size: 11px; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .soft { fill: #9198a1; }
    .page { fill: #0d1117; stroke: #3d444d; }
    .grid { stroke: #3d444d; }
    .axis { stroke: #9198a1; }
    .mark { stroke: #656c76; }
    .area { fill: #1c2128; }
    .fill0 { fill: #4493f8; } .fill1 { fill: #656c76; }
    .line0 { stroke: #4493f8; } .line1 { stroke: #f0883e; }
    .name0 { fill: #4493f8; } .name1 { fill: #f0883e; }
  }`;

/** A whole picture. @param title what readers without eyes get */
export function picture(width: number, height: number, title: string, parts: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escape(title)}</title>`,
    `<style>${style}\n</style>`,
    `<rect class="page" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="6"/>`,
    ...parts,
    '</svg>\n',
  ].join('\n');
}

/** @param how the class, and `end` or `middle` as the anchor */
export function text(x: number, y: number, words: string, style = '', anchor = 'start'): string {
  const cls = style === '' ? '' : ` class="${style}"`;
  const place = anchor === 'start' ? '' : ` text-anchor="${anchor}"`;
  return `<text x="${at(x)}" y="${at(y)}"${cls}${place}>${escape(words)}</text>`;
}

export const rule = (style: string, x1: number, y1: number, x2: number, y2: number): string =>
  `<line class="${style}" x1="${at(x1)}" y1="${at(y1)}" x2="${at(x2)}" y2="${at(y2)}"/>`;

/** A coordinate, in tenths: more would only make the file larger. */
export const at = (value: number): string => String(Math.round(value * 10) / 10);

/** The smallest of 1, 2, 2.5, 5 times a power of ten that is at least this. */
export function roundedUp(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 2.5, 5, 10].find((step) => step * power >= value * 0.999_999) as number) * power;
}
