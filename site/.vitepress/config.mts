import { existsSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import { slugOf, turnLinks } from '../links.mjs';
import { address, addressOf } from '../repository.mjs';
import { sidebarOf } from '../sidebar.mjs';

const ofApi = new URL('../pages/api/sidebars.json', import.meta.url);
const api = existsSync(ofApi) ? (JSON.parse(readFileSync(ofApi, 'utf8')) as object) : {};
const internals = sidebarOf('internals');

export default defineConfig({
  srcDir: 'pages',
  title: 'dlx-broker',
  description: "RabbitMQ's dead-letter exchanges, complete and faithful, for Nest",
  lang: 'en',
  cleanUrls: true,
  lastUpdated: false,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/icon.svg' }]],
  markdown: {
    anchor: { slugify: slugOf },
    config: turnLinks,
    theme: { light: 'github-light', dark: 'github-dark' },
  },
  vite: { build: { chunkSizeWarningLimit: 4_000 } },
  themeConfig: {
    logo: '/icon.svg',
    search: {
      provider: 'local',
      options: {
        detailedView: false,
        miniSearch: {
          searchOptions: {
            fuzzy: 0.1,
            combineWith: 'AND',
            // Pages for users come first. The function runs in the browser, so it knows nothing of this file.
            boostDocument: (id: string) => (id.startsWith('/guide/') ? 4 : id.startsWith('/reference/') ? 3 : 1),
          },
        },
      },
    },
    outline: { level: [2, 3], label: 'On this page' },
    docFooter: { prev: 'Before', next: 'Next' },
    nav: [
      { text: 'Guide', link: '/guide/', activeMatch: '^/guide/' },
      { text: 'Reference', link: '/reference/', activeMatch: '^/reference/' },
      { text: 'API', link: '/api/', activeMatch: '^/api/' },
      {
        text: 'More',
        items: [
          { text: 'Internals', link: '/internals/' },
          { text: 'Design', link: '/design/' },
          { text: 'Changelog', link: addressOf('CHANGELOG.md') },
          { text: 'Contributing', link: addressOf('CONTRIBUTING.md') },
          { text: 'Repository', link: address },
        ],
      },
    ],
    sidebar: {
      '/guide/': sidebarOf('guide'),
      '/reference/': [...sidebarOf('reference'), { text: 'API', link: '/api/', items: [] }],
      ...api,
      '/internals/': internals,
      '/walk': internals,
      '/design/': sidebarOf('design'),
    },
  },
});
