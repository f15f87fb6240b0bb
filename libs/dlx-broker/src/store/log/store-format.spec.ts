import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatVersion, recordTypes } from './segment-header.js';

const page = readFileSync(resolve(import.meta.dirname, '../../../../../docs/internals/store-format.md'), 'utf8');

describe('the page about the format', () => {
  it('has every type of record, by its number', () => {
    const told = [...page.matchAll(/^\| (\d) +\| ([a-z]+) +\|/gm)].map(([, number, name]) => [name, Number(number)]);
    expect(Object.fromEntries(told)).toEqual(recordTypes);
  });

  it('is about the format that is written', () => {
    expect(page).toContain(`Format ${formatVersion}.`);
    expect(page).toContain(`format: ${formatVersion} `);
  });
});
