import { posix } from 'node:path';
import { addressOf } from './repository.mjs';

/**
 * Where a link of a page leads on the site.
 * @param page path of the page from docs/, such as `guide/retry.md`
 * @param href the link as it is written
 */
export function onSite(page, href) {
  if (/^([a-z]+:|\/|#)/.test(href)) return href;
  const [path, hash] = href.split('#');
  const file = posix.join('docs', posix.dirname(page), path);
  const end = hash === undefined ? '' : `#${hash}`;
  if (file === 'docs/README.md') return `/${end}`;
  if (!file.startsWith('docs/')) return `${addressOf(file)}${end}`;
  return `${path.replace(/README\.md$/, 'index.md')}${end}`;
}

/** A rule for markdown-it that turns links: to the index of a folder, and out of docs/ into the repository. */
export function turnLinks(markdown) {
  markdown.core.ruler.push('links-of-the-repository', ({ tokens, env }) => {
    // README.md of a folder is its index.md here: relative links are the same.
    const page = env.relativePath;
    for (const { children } of tokens)
      for (const token of children ?? [])
        if (token.type === 'link_open') token.attrSet('href', onSite(page, token.attrGet('href') ?? ''));
  });
}

/** Anchors as forges make them, so that one link works in the repository and on the site. */
export const slugOf = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
