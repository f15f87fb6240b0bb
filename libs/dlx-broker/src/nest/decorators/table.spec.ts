import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as decorators from './index.js';
import { decoratorTable } from './table.js';

const page = readFileSync(new URL('../../../../../docs/reference/decorators.md', import.meta.url), 'utf8');

it('docs/reference/decorators.md shows the table, row by row', () => {
  const lines = page.split('\n').filter((line) => /^\| `@\w+` +\| `/.test(line));
  const shown = lines.map((line) => {
    const [decorator, setting, becomes, says] = line
      .split('|')
      .slice(1, 5)
      .map((cell) => cell.trim().replaceAll('`', ''));
    const of = becomes!.startsWith('consumer: ') ? 'consumer' : 'queue';
    return { decorator: decorator!.slice(1), setting, of, becomes: becomes!.replace('consumer: ', ''), says };
  });
  const rows = decoratorTable.map(({ decorator, setting, of, becomes, accepts }) => {
    return { decorator, setting, of, becomes, says: accepts.says };
  });
  expect(shown).toEqual(rows);
});

it('every decorator there is stands on the page, and every row belongs to one', () => {
  const all = Object.entries(decorators).flatMap(([name, value]) => (typeof value === 'function' ? [name] : []));
  for (const name of all) expect(page).toContain(`\`@${name}`);
  for (const { decorator } of decoratorTable) expect(all).toContain(decorator);
});
