import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { replyCodes } from '../../libs/dlx-broker/src/engine/broker/errors.js';
import { docsPages, frontPages, read, root, withoutCode } from './pages.js';

/** Words that hide the subject of a sentence: CONTRIBUTING.md, "Plain English". */
const refused = /\b(nobody|somebody|whoever|told|one who)\b/i;

/** The rooms of the library. */
const rooms: readonly string[] = readdirSync(join(root, 'libs/dlx-broker/src'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** Lines with a refused word, as `line: text`. Quoted text is exempt: it names a test, an output or another document. */
const faults = (text: string): string[] =>
  text.split('\n').flatMap((line, at) => {
    const own = line.replace(/"[^"]*"/g, '');
    return refused.test(own) ? [`${at + 1}: ${line.trim().slice(0, 160)}`] : [];
  });

/** A source with everything but its comments blanked out, line by line. */
const commentsOf = (source: string): string => {
  const comments = source.match(/\/\*[^]*?\*\/|(?<![:'"`])\/\/[^\n]*|\n/g) ?? [];
  let text = '';
  for (const comment of comments) text += comment;
  return text;
};

/** The names of suites and cases, one a line. Names in tables of cases are not among them. */
const caseNamesOf = (source: string): string =>
  [...source.matchAll(/^ *(?:describe|it|test)\b[^'`"\n]*(?:\(|\)\()(['`])(.*?)\1/gm)]
    .map(([, , name]) => name)
    .join('\n');

/** Names in capitals that stand where a figure or a text is to follow. Outside of code a page names only the errors of AMQP in this way. */
const placeholdersIn = (text: string): string[] =>
  (text.match(/\b[A-Z]+_[A-Z_]+\b/g) ?? []).filter((name) => !(name in replyCodes));

/** This file, which names the refused words. */
const own = join('docs', 'words.spec.ts');

describe('pages name their subjects', () => {
  it.each([...frontPages, ...docsPages(), 'site/index.md'])('%s', (page) => {
    expect(faults(withoutCode(read(page)))).toEqual([]);
  });
});

describe('a design note is short', () => {
  it.each(docsPages().filter((page) => page.startsWith('docs/design/')))('%s has at most 600 words', (page) => {
    expect(read(page).split(/\s+/).length).toBeLessThanOrEqual(600);
  });
});

describe('pages have no placeholders', () => {
  it.each([...frontPages, ...docsPages(), 'site/index.md'])('%s', (page) => {
    expect(placeholdersIn(withoutCode(read(page)))).toEqual([]);
  });
});

describe('tests and benchmarks name their subjects', () => {
  it.each(['test', 'bench', 'apps', 'libs/dlx-broker/src'])('in comments and case names of %s', (folder) => {
    const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
    const sources = files.filter((file) => file.endsWith('.ts') && !file.includes('node_modules') && file !== own);
    expect(sources.length).toBeGreaterThan(0);
    const found = sources.flatMap((file) => {
      const source = read(`${folder}/${file}`);
      return faults(`${commentsOf(source)}\n${caseNamesOf(source)}`).map((line) => `${file} ${line}`);
    });
    expect(found).toEqual([]);
  });
});

describe('comments name their subjects', () => {
  it.each(rooms)('%s', (room) => {
    const folder = `libs/dlx-broker/src/${room}`;
    const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
    const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'));
    expect(sources.length).toBeGreaterThan(0);
    const found = sources.flatMap((file) =>
      faults(commentsOf(read(`${folder}/${file}`))).map((line) => `${file} ${line}`),
    );
    expect(found).toEqual([]);
  });
});
