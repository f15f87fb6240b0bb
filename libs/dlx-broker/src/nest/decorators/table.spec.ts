import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { allDecorators } from '../../../../../test/harnesses/all-decorators.js';
import { decoratorTable } from './table.js';

const page = readFileSync(new URL('../../../../../docs/reference/decorators.md', import.meta.url), 'utf8');

it('every decorator there is stands on the page, and every row belongs to one', () => {
  const all = allDecorators.map(([name]) => name);
  for (const name of all) expect(page).toContain(`\`@${name}`);
  for (const { decorator } of decoratorTable) expect(all).toContain(decorator);
});
