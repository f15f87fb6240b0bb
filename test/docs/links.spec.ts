import { describe, expect, it } from 'vitest';
import { anchorsOf, docsPages, exists, frontPages, linksOf } from './pages.js';

describe.each([...frontPages, ...docsPages()])('%s', (page) => {
  it('links to files and headings that exist', () => {
    const broken = linksOf(page).filter(
      ({ file, heading }) => !exists(file) || (heading !== undefined && !anchorsOf(file).includes(heading)),
    );
    expect(broken.map(({ written }) => written)).toEqual([]);
  });
});

describe('docs/README.md', () => {
  it('leads to every page', () => {
    const reached = new Set(['docs/README.md']);
    for (const page of reached) {
      const pages = linksOf(page).filter(
        ({ file }) => file.startsWith('docs/') && file.endsWith('.md') && exists(file),
      );
      for (const { file } of pages) reached.add(file);
    }
    const orphans = docsPages().filter((page) => !reached.has(page));
    expect(orphans, 'add a link to the index page (README.md) of the folder').toEqual([]);
  });
});
