import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { queueArguments } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { embeddedChecks } from '../../libs/dlx-broker/src/nest/brokers/embedded.js';
import { rabbitmqChecks } from '../../libs/dlx-broker/src/nest/brokers/rabbitmq.js';
import { forRootChecks } from '../../libs/dlx-broker/src/nest/module/options.js';
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

  it.each([
    ['forRoot', forRootChecks],
    ['embedded', embeddedChecks],
    ['rabbitmq', rabbitmqChecks],
  ])('have every option of %s', (of, checks) => {
    const shown = tables[`options of ${of}`]!.slice(1).map(([cell]) => /`(\w+)`/.exec(cell!)?.[1]);
    expect(shown.sort()).toEqual(Object.keys(checks).sort());
  });

  it('say of every argument with an effect which values it takes', () => {
    const silent = queueArguments.filter(({ setting, written, says }) => (setting ?? written) && says === undefined);
    expect(silent.map(({ name }) => name)).toEqual([]);
  });
});
