import { parseAst, type Plugin } from 'vite';

/** What only the tests of lessons read. */
const unread = new Set(['ends', 'endsOnReal310', 'shows', 'virtualOnly']);

/** Leaves out of the lessons in the bundle what the page does not show. */
export function shortLessons(): Plugin {
  return {
    name: 'short-lessons',
    enforce: 'pre',
    apply: 'build',
    transform: {
      filter: { id: /\/playground\/src\/lessons\/\w+\.ts$/ },
      handler(code) {
        const cuts: (readonly [number, number])[] = [];
        JSON.stringify(parseAst(code, { lang: 'ts' }), (_, node: unknown) => {
          const { type, key, value } = (node ?? {}) as { type?: string; key?: { name?: string }; value?: Range };
          if (type !== 'Property' || value === undefined || !unread.has(key?.name ?? '')) return node;
          cuts.push([value.start, value.end]);
          return undefined;
        });
        return cuts.reduceRight((text, [start, end]) => `${text.slice(0, start)}0${text.slice(end)}`, code);
      },
    },
  };
}

interface Range {
  readonly start: number;
  readonly end: number;
}
