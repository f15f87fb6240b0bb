import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

/** With slashes also on Windows, as TypeScript names files. */
export const root = join(import.meta.dirname.replaceAll('\\', '/'), '../..');

/** The text of a file, by its path from the root of the repository. */
export const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Every page of `docs/`, by its path from the root. */
export const docsPages = (): string[] =>
  readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => `docs/${path.replaceAll('\\', '/')}`)
    .sort();

/** Pages outside `docs/` that link into it. */
export const frontPages = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'libs/dlx-broker/README.md',
  'apps/demo-console/README.md',
  'apps/sample-orders/README.md',
  'apps/sample-retry/README.md',
];

/** Text without its code: blocks between fences, and spans between backticks. */
export const withoutCode = (text: string): string =>
  text
    .replace(/^```[^]*?^```/gm, (block) => block.replace(/[^\n]/g, ''))
    .replace(/`[^`\n]*`/g, (span) => ' '.repeat(span.length));

/** A relative link: as it is written, the file it means by its path from the root, and the heading, if it names one. */
export interface Link {
  readonly written: string;
  readonly file: string;
  readonly heading: string | undefined;
}

/** The relative links of a page; links to other sites are left out. */
export function linksOf(page: string): Link[] {
  const links = [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, written]) => written!);
  return links
    .filter((written) => !/^[a-z]+:/.test(written))
    .map((written) => {
      const [path = '', heading] = written.split('#');
      const file = path === '' ? page : join(dirname(page), path);
      return { written, file, heading };
    });
}

/** The anchors of a page, made from its headings as forges make them. */
export const anchorsOf = (page: string): string[] =>
  [
    ...read(page)
      .replace(/^```[^]*?^```/gm, '')
      .matchAll(/^#+ (.*)$/gm),
  ].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

export const exists = (path: string): boolean => existsSync(join(root, path));
