import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { exportLetters, mostExported } from './api';

const of = { vhost: '/', queue: 'dead' };

beforeEach(() => vi.stubGlobal('document', { baseURI: 'http://broker.example/' }));
afterEach(() => vi.unstubAllGlobals());

it.each([
  [mostExported - 1, false],
  [mostExported, true],
])('knows whether the limit ended an export of %d messages', async (count, isCut) => {
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (url: URL) => {
    asked.push(url.search);
    return new Response('{}\n'.repeat(count));
  });
  const exported = await exportLetters(of);
  expect([exported.isCut, exported.lines.size]).toEqual([isCut, 3 * count]);
  expect(asked).toEqual([`?limit=${mostExported}`]);
});

it('exports all chosen messages, and cuts none', async () => {
  vi.stubGlobal('fetch', async () => new Response('{}\n{}\n'));
  const exported = await exportLetters({ ...of, ids: ['1', '2'] });
  expect([exported.isCut, await exported.lines.text()]).toEqual([false, '{}\n{}\n']);
});
