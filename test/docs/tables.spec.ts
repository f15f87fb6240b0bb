import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { queueArguments } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { docsPages, root } from './pages.js';
import { tables, tablesOn, withTables } from './tables.js';

const pages = docsPages().filter((page) => tablesOn(page).length > 0);

describe('tables of the docs', () => {
  it.each(pages)('%s shows those of the source; `npm run tables` renews it', async (page) => {
    await expect(await withTables(page)).toMatchFileSnapshot(join(root, page));
  });

  it('stand on one page each', () => {
    expect(pages.flatMap(tablesOn).sort()).toEqual(Object.keys(tables).sort());
  });

  it('say of every argument with an effect which values it takes', () => {
    const silent = queueArguments.filter(({ setting, written, says }) => (setting ?? written) && says === undefined);
    expect(silent.map(({ name }) => name)).toEqual([]);
  });
});
