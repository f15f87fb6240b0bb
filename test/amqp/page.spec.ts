import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { promises } from './promises.js';

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

it.each(Object.entries(promises))('cases show each promise of docs/reference/amqp.md: %s', (_, all) => {
  const missing = all.flatMap(([promise, ...cases]) => {
    if (cases.length === 0) return [promise];
    return cases.filter((cited) => {
      const [file = '', name = ''] = cited.split(' › ');
      return name === '' || !sourceOf(file).includes(name);
    });
  });
  expect(missing).toEqual([]);
});
