import { describe, expect, it } from 'vitest';
import { onSite, slugOf } from '../../site/links.mjs';
import { addressOf } from '../../site/repository.mjs';
import { sidebarOf } from '../../site/sidebar.mjs';
import { anchorsOf, docsPages, read } from './pages.js';

describe('the site', () => {
  it('has every page in the sidebar of its folder, once', () => {
    const groups = ['guide', 'reference', 'internals', 'design'].flatMap(sidebarOf);
    const links = groups.flatMap(({ items }) => items.map(({ link }) => `docs${link}.md`));
    expect(links.sort()).toEqual(docsPages().filter((page) => !page.endsWith('README.md')));
  });

  it('turns links that leave docs/ into addresses of the repository', () => {
    expect(onSite('guide/retry.md', 'testing.md#jest')).toBe('testing.md#jest');
    expect(onSite('guide/retry.md', '../reference/README.md')).toBe('../reference/index.md');
    expect(onSite('guide/retry.md', '../README.md')).toBe('/');
    expect(onSite('guide/retry.md', '../../apps/sample-retry/README.md')).toBe(
      addressOf('apps/sample-retry/README.md'),
    );
    expect(onSite('walk.md', '../CHANGELOG.md#unreleased')).toBe(addressOf('CHANGELOG.md#unreleased'));
    expect(onSite('guide/retry.md', 'https://www.rabbitmq.com/docs')).toBe('https://www.rabbitmq.com/docs');
    expect(onSite('guide/retry.md', '#the-policy')).toBe('#the-policy');
  });

  it('has the anchors that forges have', () => {
    for (const page of docsPages()) {
      const headings = [
        ...read(page)
          .replace(/^```[^]*?^```/gm, '')
          .matchAll(/^#+ (.*)$/gm),
      ].map(([, heading]) => heading!);
      expect(headings.map(slugOf)).toEqual(anchorsOf(page));
    }
  });
});
