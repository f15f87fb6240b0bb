import { describe, expect, it } from 'vitest';
import { apiHarness } from '../../../../../../test/harnesses/api-harness.js';
import type { ManagementHost } from '../../host.js';

const failed = { name: 'storage_failed', reason: 'EIO in /var/data', queues: [] } as const;
const unreadable = { name: 'storage_unreadable', reason: 'x', queues: [{ vhost: '/', name: 'secret' }] } as const;

const ask = async (host: Partial<ManagementHost>, path: string, method = 'GET') => {
  const { status, body } = await apiHarness({ host }).call(method, `/dlx/health/${path}`, { as: '' });
  return { status, body };
};

describe('probes answer without a login', () => {
  it.each(['live', 'ready'])('200 while nothing is wrong: %s', async (path) => {
    expect(await ask({}, path)).toEqual({ status: 200, body: { status: 'ok' } });
    expect(await ask({}, path, 'HEAD')).toEqual({ status: 200, body: undefined });
  });

  it.each<[string, Partial<ManagementHost>, readonly string[], readonly string[]]>([
    ['a failed storage', { faults: () => [failed] }, ['storage-failed'], ['storage-failed']],
    ['a queue that stands still', { faults: () => [unreadable] }, [], ['storage-unreadable']],
    ['an alarm', { alarms: () => ['memory', 'disk'] }, [], ['alarm']],
    ['both', { faults: () => [failed], alarms: () => ['disk'] }, ['storage-failed'], ['storage-failed', 'alarm']],
  ])('503 with names of problems and no details: %s', async (_, host, live, ready) => {
    const answer = (problems: readonly string[]) =>
      problems.length === 0
        ? { status: 200, body: { status: 'ok' } }
        : { status: 503, body: { status: 'failed', problems } };
    expect(await ask(host, 'live')).toEqual(answer(live));
    expect(await ask(host, 'ready')).toEqual(answer(ready));
  });

  it('405 for other methods', async () => {
    expect(await ask({}, 'live', 'POST')).toMatchObject({ status: 405 });
  });
});
