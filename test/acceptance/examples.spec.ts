import { readFileSync } from 'node:fs';
import { setImmediate as soon } from 'node:timers/promises';
import { inspect } from 'node:util';
import { NestFactory } from '@nestjs/core';
import { afterEach, describe, expect, it, vi } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
/** Each example, and the page of the guide that shows it. */
const examples: Readonly<Record<string, string>> = {
  'getting-started': 'getting-started',
  transport: 'transport',
  contracts: 'contracts',
  configuration: 'configuration',
  processes: 'configuration',
  'dead-lettering': 'dead-lettering',
  ttl: 'limits',
  limits: 'limits',
  retry: 'retry',
  'error-history': 'parked',
  retention: 'parked',
  streams: 'streams',
  edit: 'redrive',
  idempotency: 'idempotency',
  outbox: 'outbox',
  ordered: 'ordered',
  'rate-limits': 'rate-limits',
  batches: 'batches',
  delayed: 'delayed',
  circuit: 'circuit',
  pause: 'circuit',
  durability: 'durability',
  observability: 'observability',
  'from-nest-rabbitmq': 'from-nest-rabbitmq',
  'coming-from': 'coming-from',
};

afterEach(() => vi.restoreAllMocks());

/** What a program prints, as the terminal shows it: `{ 'a/b': 3 }` and the like. */
const shown = (value: unknown): string => (typeof value === 'string' ? value : inspect(value));

/** How many timers keep the process from ending. */
const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

describe.each(Object.entries(examples))('test/examples/%s.ts, on docs/guide/%s.md', (name, page) => {
  const text = read(`docs/guide/${page}.md`);
  const example = read(`test/examples/${name}.ts`);
  const [, said = ''] = /```text\n([\s\S]*?)```/.exec(text.slice(text.indexOf(example))) ?? [];

  it('shows the example that is run here', () => {
    expect(text).toContain(`\`\`\`ts\n${example}\`\`\``);
    expect(said).not.toBe('');
  });

  it('prints what the page says, and leaves no timer', async () => {
    const before = timers(); // of other specs in this process
    const create = [vi.spyOn(NestFactory, 'createApplicationContext'), vi.spyOn(NestFactory, 'create')];
    const lines: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((...words) => void lines.push(words.map(shown).join(' ')));
    await import(`../examples/${name}.ts`);
    await vi.waitFor(() => expect(`${lines.join('\n')}\n`).toBe(said), { interval: 5, timeout: 8_000 });
    for (const { mock } of create)
      await Promise.all(mock.results.map(async ({ value }) => ((await value) as { close(): Promise<void> }).close()));
    for (const until = Date.now() + 2_000; timers() > before && Date.now() < until;) await soon();
    expect(timers()).toBeLessThanOrEqual(before);
  });
});

it('docs/guide/testing.md shows the example that runs beside this', () => {
  expect(read('docs/guide/testing.md')).toContain(`\`\`\`ts\n${read('test/examples/testing.spec.ts')}\`\`\``);
});
