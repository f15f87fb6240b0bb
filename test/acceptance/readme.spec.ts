import { existsSync, readFileSync } from 'node:fs';
import { NestFactory } from '@nestjs/core';
import { afterEach, expect, it, vi } from 'vitest';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const example = readFileSync(new URL('./first-handler.ts', import.meta.url), 'utf8');

afterEach(() => vi.restoreAllMocks());

it('the first handler of the README is the one that is run here', () => {
  const [, block] = /```ts\n([\s\S]*?)```/.exec(readme) ?? [];
  expect(block).toBe(example);
});

it('the first handler sees its message die, and why', async () => {
  const create = vi.spyOn(NestFactory, 'createApplicationContext');
  for (const stream of [process.stdout, process.stderr]) vi.spyOn(stream, 'write').mockReturnValue(true);
  const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  await import('./first-handler.js');
  await vi.waitFor(() => expect(printed).toHaveBeenCalledTimes(1), { interval: 1 });
  const death = {
    queue: 'orders',
    reason: 'rejected',
    exchange: 'dlx.events',
    routingKeys: ['order.created'],
    count: 1,
  };
  expect(printed).toHaveBeenCalledWith({ id: 7 }, 'no tea for order 7', [{ ...death, time: expect.any(Date) as Date }]);
  await (await create.mock.results[0]!.value)?.close();
});

it('every page the README links to is there', () => {
  const links = [...readme.matchAll(/\]\(([^)#]+)\)/g)].map(([, path]) => path!);
  expect(links.length).toBeGreaterThan(10);
  expect(links.filter((path) => !existsSync(new URL(`../../${path}`, import.meta.url)))).toEqual([]);
});
