import { readFileSync } from 'node:fs';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DlxBroker, DlxClient } from 'dlx-broker';
import { lastValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Backend } from '../../libs/dlx-broker/src/backends/index.js';
import { endsAfterEach } from '../harnesses/ends.js';
import { serverKinds, type World, type WorldKind } from './worlds.js';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = read('docs/guide/rabbitmq.md');
const example = read('test/examples/rabbitmq.ts');
const [kind] = serverKinds as [WorldKind];

describe('docs/guide/rabbitmq.md', () => {
  let world: World;
  let app: INestApplicationContext | undefined;

  beforeEach(async ({ skip }) => {
    const reason = await kind.unavailable();
    if (reason !== undefined) skip(reason);
    world = await kind.open();
  });
  afterEach(async () => {
    await app?.close();
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    await world?.close();
  });

  it('shows an application that runs with the rights and the names of the page', { timeout: 30_000 }, async () => {
    expect(page).toContain(`\`\`\`ts\n${example}\`\`\``);
    const [, said = ''] = /```text\n([\s\S]*?)```/.exec(page.slice(page.indexOf(example))) ?? [];
    const rights = /set_permissions -p shop shop '(.*)' '(.*)' '(.*)'/.exec(page) ?? [];
    const [, configure, write, reading] = rights as readonly string[] as readonly [string, string, string, string];
    const user = `guide-${process.pid}`;
    await world.permit!(user, 'secret', { configure, write, read: reading });
    const url = new URL(world.url!);
    [url.username, url.password] = [user, 'secret'];
    vi.stubEnv('BROKER_URL', url.href);
    const create = vi.spyOn(NestFactory, 'createApplicationContext');
    const lines: unknown[] = [];
    vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(line));
    await import('../examples/rabbitmq.js');
    app = (await create.mock.results[0]?.value) as INestApplicationContext;
    await vi.waitFor(() => expect(`${lines.join('\n')}\n`).toBe(said), 5_000);

    const client = app.get(DlxClient);
    await lastValueFrom(client.emit('order.created', { id: 8 }, { delay: '1s' }), { defaultValue: undefined });
    await expect(lastValueFrom(client.send('nothing', {}))).rejects.toThrow(/no queue|unroutable|NO_ROUTE/i);
    const { exchanges, queues } = app.get(DlxBroker).topology();
    const names = [...exchanges, ...queues].map(({ name }) => name);
    expect(names).toContain('orders.parked');
    for (const name of [...names, 'dlx.events.wait.keep.1000']) {
      expect(page).toContain(`\`${name.replace(/\d+$/, 'N')}\``);
    }
    expect(await client.unwrap<Backend>().status('dlx.events.wait.keep.1000')).toBeDefined();
  });
});

for (const [at, kind] of serverKinds.entries()) {
  const unavailable = await kind.unavailable();

  describe.skipIf(unavailable !== undefined)(`docs/guide/streams.md on ${kind.name}`, () => {
    const ends = endsAfterEach();

    it('prints the same', { timeout: 30_000 }, async () => {
      const world = await kind.open();
      ends.push(() => world.close());
      vi.stubEnv('BROKER_URL', world.url!);
      ends.push(() => vi.unstubAllEnvs());
      const [, said = ''] = /```text\n([\s\S]*?)```/.exec(read('docs/guide/streams.md')) ?? [];
      const lines: string[] = [];
      ends.push(() => vi.restoreAllMocks());
      vi.spyOn(console, 'log').mockImplementation((...words) => void lines.push(words.join(' ')));
      const create = vi.spyOn(NestFactory, 'create');
      await import(/* @vite-ignore */ `../examples/streams.ts?${at}`);
      const [made] = create.mock.results;
      ends.push(async () => ((await made!.value) as INestApplicationContext).close());
      await vi.waitFor(() => expect(`${lines.join('\n')}\n`).toBe(said), 8_000);
    });
  });
}
