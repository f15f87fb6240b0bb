import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const folders = [
  'test/amqp',
  'test/fuzz',
  'test/security',
  'test/contract/cases',
  'test/durability',
  'libs/dlx-broker/src/amqp/server',
  'libs/dlx-broker/src/engine/broker/channel',
  'libs/dlx-broker/src/amqp/wire/frame',
  'libs/dlx-broker/src/amqp/wire/properties',
];

/** The source of a test file by its short name. */
function sourceOf(name: string): string {
  const files = folders.flatMap((folder) => [join(root, folder, `${name}.spec.ts`), join(root, folder, `${name}.ts`)]);
  // A spec goes before the file it is about.
  const file = files
    .sort((one, other) => Number(other.endsWith('.spec.ts')) - Number(one.endsWith('.spec.ts')))
    .find(existsSync);
  return file === undefined ? '' : readFileSync(file, 'utf8');
}

it('every promise of docs/reference/amqp.md names cases that exist', () => {
  const page = readFileSync(join(root, 'docs/reference/amqp.md'), 'utf8');
  const rows = page.split('\n').filter((line) => /^\| (?!promise |---|-)/.test(line));
  expect(rows.length).toBeGreaterThan(60);
  const missing: string[] = [];
  for (const row of rows) {
    const cited = [...row.matchAll(/`([\w-]+)` › "([^"]+)"/g)];
    if (cited.length === 0) missing.push(`nothing is cited: ${row}`);
    for (const [, file = '', name = ''] of cited) {
      if (!sourceOf(file).includes(name)) missing.push(`${file} › ${name}`);
    }
  }
  expect(missing).toEqual([]);
});
