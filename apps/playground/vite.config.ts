import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { notices } from '../console/notices.ts';
import { shortLessons } from './short-lessons.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: { alias: [{ find: /^.*\/backlog\/index\.js$/, replacement: here('src/page/no-backlog.ts') }] },
  // Relative addresses: the page works in any folder of any site.
  base: './',
  plugins: [
    notices('third-party-notices.txt'),
    shortLessons(),
    {
      name: 'no-policy-while-developing',
      apply: 'serve',
      // Vite's own script and style sheets are inline there.
      transformIndexHtml: (html) => html.replace(/<meta\s+http-equiv[^>]*>/, ''),
    },
  ],
  build: {
    emptyOutDir: true,
    // No data: addresses: the content security policy of the page allows none.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    chunkSizeWarningLimit: 400,
  },
});
