import { readdirSync, readFileSync } from 'node:fs';

const folderOf = (name) => new URL(`../docs/${name}/`, import.meta.url);

/** The first link of a line to a page of docs/: its text, and its path from the folder. */
const linkIn = (line) => /\[([^\]]+)\]\(((?:\.\.\/)?[\w-]+\.md)\)/.exec(line);

/**
 * The sidebar of a folder, from the lists and tables of its index: a group for each heading.
 * @throws Error for a page that the index does not name
 */
export function sidebarOf(name) {
  const groups = [{ text: titleOf(name), link: `/${name}/`, items: [] }];
  const named = new Set(['README.md']);
  for (const line of readFileSync(new URL('README.md', folderOf(name)), 'utf8').split('\n')) {
    const heading = /^## (.*)/.exec(line);
    if (heading !== null) groups.push({ text: heading[1], items: [] });
    const link = /^(\d+\.|-|\|) /.test(line) ? linkIn(line) : null;
    if (link === null || named.has(link[2])) continue;
    named.add(link[2]);
    const path = link[2].startsWith('../') ? `/${link[2].slice(3)}` : `/${name}/${link[2]}`;
    groups.at(-1).items.push({ text: link[1].replaceAll('`', ''), link: path.replace(/\.md$/, '') });
  }
  const missing = readdirSync(folderOf(name)).filter((file) => file.endsWith('.md') && !named.has(file));
  if (missing.length > 0) throw new Error(`docs/${name}/README.md does not name ${missing.join(', ')}`);
  return groups.filter(({ items, link }) => items.length > 0 || link !== undefined);
}

const titleOf = (name) => /^# (.*)/m.exec(readFileSync(new URL('README.md', folderOf(name)), 'utf8'))[1];
