import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { read, root } from './pages.js';

/** A block of code between fences. */
export interface Block {
  /** The page, by its path from the root. */
  readonly page: string;
  /** The line of the opening fence, the first line of the page being 1. */
  readonly line: number;
  /** The first word behind the fence, or ''. */
  readonly language: string;
  /** The words that follow: `member`, or `not checked:` and a reason. */
  readonly note: string;
  readonly text: string;
  /** The declarations of the page's comments `<!-- given ... -->` above the block. */
  readonly given: readonly string[];
}

const pagesIn = (folder: string): string[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`)
    .sort();

/** The pages whose blocks are checked: those of users. */
export const checkedPages: readonly string[] = [
  'README.md',
  'libs/dlx-broker/README.md',
  'site/index.md',
  ...pagesIn('docs/guide'),
  ...pagesIn('docs/reference'),
];

/** A block, or a comment with declarations. */
const parts = /^<!-- given\n([^]*?)\n-->$|^( *)```([^\n]*)\n([^]*?)^\2```$/gm;

export function blocksOf(page: string): Block[] {
  const text = read(page);
  const blocks: Block[] = [];
  const given: string[] = [];
  for (const { index, 1: declarations, 3: info, 4: code } of text.matchAll(parts)) {
    if (declarations !== undefined) given.push(...declarations.split('\n'));
    else {
      const [, language = '', note = ''] = /^(\S*) *(.*)$/.exec(info!) ?? [];
      const line = text.slice(0, index).split('\n').length;
      blocks.push({ page, line, language, note, text: code!, given: [...given] });
    }
  }
  return blocks;
}

export const placeOf = ({ page, line }: Block): string => `${page}:${line}`;

/** The reason why a block is not checked: `not checked: REASON` behind its language. */
export const reasonOf = ({ note }: Block): string | undefined => /^not checked: (.+)$/.exec(note)?.[1];
