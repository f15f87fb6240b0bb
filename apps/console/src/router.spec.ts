import { afterAll, beforeAll, expect, it, vi } from 'vitest';

/** The parts of a browser that the addresses need. */
beforeAll(() => {
  vi.stubGlobal('location', { hash: '#/audit?user=guest&cursor=500&page=3' });
  vi.stubGlobal('addEventListener', () => undefined);
  vi.stubGlobal('history', { replaceState: () => undefined });
});

afterAll(() => vi.unstubAllGlobals());

it('begins at the first page when the filter of a list changes', async () => {
  const { address, changeList } = await import('./router');
  changeList({ user: 'other' });
  expect(address.value.query.toString()).toBe('user=other');
});
