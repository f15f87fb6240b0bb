import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openBroker } from '../../libs/dlx-broker/src/server/serve/open-broker.js';

const folder = mkdtempSync(join(tmpdir(), 'cluster-id-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The cluster id of a broker that begins and ends. */
async function clusterIdOf(directory?: string): Promise<unknown> {
  const { broker, close } = await openBroker(directory === undefined ? {} : { data: { directory } }, {});
  const id = broker.parameters.get('internal_cluster_id');
  await close();
  return id;
}

it('a broker has an id of its own as internal_cluster_id, and keeps it as long as its data', async () => {
  const one = await clusterIdOf(join(folder, 'one'));
  expect(one).toMatch(/^rabbitmq-cluster-id-.{22,}$/);
  expect(await clusterIdOf(join(folder, 'one'))).toBe(one);
  expect(await clusterIdOf(join(folder, 'two'))).not.toBe(one);
  expect(await clusterIdOf()).not.toBe(await clusterIdOf());
});
