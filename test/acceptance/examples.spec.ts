import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { NestFactory } from '@nestjs/core';
import { afterEach, describe, expect, it, vi } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const pages = [
  'configuration',
  'processes',
  'streams',
  'dead-lettering',
  'ttl',
  'limits',
  'retry',
  'error-history',
  'death-notices',
  'delayed',
  'redrive',
  'edit',
  'idempotency',
  'outbox',
  'ordered',
  'batches',
  'rate-limits',
  'contracts',
  'pause',
  'circuit',
  'retention',
  'from-nest-rabbitmq',
  'from-golevelup',
  'from-bullmq',
];

afterEach(() => vi.restoreAllMocks());

/** What a program prints, as the terminal shows it: `{ 'a/b': 3 }` and the like. */
const shown = (value: unknown): string => (typeof value === 'string' ? value : inspect(value));

describe.each(pages)('docs/guide/%s.md', (page) => {
  const text = read(`docs/guide/${page}.md`);
  const example = read(`test/examples/${page}.ts`);
  const [, said = ''] = /```text\n([\s\S]*?)```/.exec(text.slice(text.indexOf(example))) ?? [];

  it('shows the example that is run here', () => {
    expect(text).toContain(`\`\`\`ts\n${example}\`\`\``);
    expect(said).not.toBe('');
  });

  it('prints what the page says', async () => {
    const create = [vi.spyOn(NestFactory, 'createApplicationContext'), vi.spyOn(NestFactory, 'create')];
    const lines: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((...words) => void lines.push(words.map(shown).join(' ')));
    await import(`../examples/${page}.ts`);
    await vi.waitFor(() => expect(`${lines.join('\n')}\n`).toBe(said), { interval: 5, timeout: 8_000 });
    for (const { mock } of create)
      await Promise.all(mock.results.map(async ({ value }) => ((await value) as { close(): Promise<void> }).close()));
  });
});

it('docs/guide/testing.md shows the example that runs beside this', () => {
  expect(read('docs/guide/testing.md')).toContain(`\`\`\`ts\n${read('test/examples/testing.spec.ts')}\`\`\``);
});
