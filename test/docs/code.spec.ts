import { readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { readConfig } from '../../libs/dlx-broker/src/cli/serve/index.js';
import { type Block, blocksOf, checkedPages, placeOf, reasonOf } from './blocks.js';
import { errorsOf } from './compiled.js';
import { read, root } from './pages.js';

const blocks = checkedPages.flatMap(blocksOf);
const of = (...languages: readonly string[]): Block[] =>
  blocks.filter((block) => languages.includes(block.language) && reasonOf(block) === undefined);

/** Every language of a block, and how its blocks are checked. */
const languages: Readonly<Record<string, string>> = {
  ts: 'compiled, all in one program',
  js: 'parsed',
  json: 'parsed',
  yaml: 'parsed; that of `serve --config` is read as the command reads it',
  sh: 'commands of the package and scripts: commands.spec.ts',
  console: 'the same; output is compared',
  dockerfile: 'commands of the package: commands.spec.ts',
  text: 'compared with the output of a program',
};

/** Blocks with output that no example of test/examples prints: the first line, and the spec that compares it. */
const comparedBy: Readonly<Record<string, string>> = {
  'README.md: The console: http://127.0.0.1:38375/ (user guest, password guest)': 'test/docs/outputs.spec.ts',
  'README.md: { id: 7 } order.created [': 'test/acceptance/readme.spec.ts',
  "docs/guide/changing-queues.md: queue 'orders' in vhost '/' (classic, 12 messages) gets the name 'orders.old'; its messages and arguments come along":
    'test/docs/outputs.spec.ts',
  'docs/guide/idempotency.md: paid a': 'test/backends/redis-idempotency.spec.ts',
  'docs/reference/tracing.md: #1 publish dlx.events:order.created  (PRODUCER)': 'test/e2e/tracing-spans.spec.ts',
  'docs/guide/rabbitmq.md: the server has confirmed order 7': 'test/backends/guide.spec.ts',
  'docs/guide/serving.md: dlx-broker ready amqp=127.0.0.1:5672': 'test/amqp/serve.spec.ts',
  "docs/guide/testing.md: queue 'orders.parked' holds other messages": 'test/docs/outputs.spec.ts',
  "docs/reference/ctl.md: policy 'DLX' in vhost '/': set": 'test/ctl/ctl.spec.ts',
  'docs/reference/dlx-api.md: event: change': 'libs/dlx-broker/src/server/dlx/docs.spec.ts',
  'docs/reference/engine.md: tea shop': 'test/api/engine-page.spec.ts',
};

/** Pages whose blocks with output are all compared by one spec. */
const pagesComparedBy: Readonly<Record<string, string>> = {
  'docs/guide/troubleshooting.md': 'test/docs/troubleshooting.spec.ts',
  'docs/reference/log.md': 'test/docs/troubleshooting.spec.ts',
};

describe('blocks of code', () => {
  it('are of languages that are checked', () => {
    expect([...new Set(blocks.map(({ language }) => language))].filter((language) => !(language in languages))).toEqual(
      [],
    );
  });

  it('say why, where one is not checked', () => {
    const notes = blocks.filter(({ note }) => note !== '' && note !== 'member');
    expect(notes.filter((block) => reasonOf(block) === undefined).map(placeOf)).toEqual([]);
    expect(notes.map(({ page, note }) => `${page}: ${note}`)).toEqual([]);
  });

  it('in TypeScript compile', { timeout: 180_000 }, () => {
    const checked = of('ts');
    expect(checked.length).toBeGreaterThan(40);
    expect(errorsOf(checked)).toEqual({});
  });

  it.each(of('js').map((block) => [placeOf(block), block] as const))(
    'in JavaScript can be parsed: %s',
    (_, { text }) => {
      const { diagnostics } = ts.transpileModule(text, { reportDiagnostics: true, fileName: 'block.js' });
      expect(diagnostics).toEqual([]);
    },
  );

  it.each(of('json').map((block) => [placeOf(block), block] as const))('in JSON can be parsed: %s', (_, { text }) => {
    expect(() => JSON.parse(text) as unknown).not.toThrow();
  });

  it.each(of('yaml').map((block) => [placeOf(block), block] as const))(
    'in YAML can be parsed: %s',
    async (_, block) => {
      const documents = parseAllDocuments(block.text);
      for (const { errors } of documents) expect(errors).toEqual([]);
      const isOfServe = documents.some((document) => document.has('amqp') || document.has('users'));
      if (!isOfServe) return;
      const folder = await mkdtemp(join(tmpdir(), 'dlx-docs-'));
      await writeFile(join(folder, 'broker.yaml'), block.text);
      await expect(readConfig(join(folder, 'broker.yaml'))).resolves.toBeDefined();
      await rm(folder, { recursive: true });
    },
  );
});

/** The first line of output in a block, or undefined. */
function outputIn({ language, text }: Block): string | undefined {
  if (language === 'text') return text.split('\n')[0];
  const typed = text.replace(/\\\n/g, '').split('\n').slice(0, -1);
  return typed.find((line) => !line.startsWith('$ '));
}

describe('blocks with output', () => {
  const shown = of('text', 'console').flatMap((block) => {
    const line = outputIn(block);
    return line === undefined ? [] : [{ ...block, first: `${block.page}: ${line}` }];
  });

  it('stand below an example that examples.spec.ts runs, or are compared by a spec of their own', () => {
    const spec = read('test/acceptance/examples.spec.ts');
    const examples = readdirSync(join(root, 'test/examples'))
      .filter((name) => new RegExp(`^  '?${name.replace(/\.ts$/, '')}'?: `, 'm').test(spec))
      .map((name) => read(`test/examples/${name}`));
    expect(examples.length).toBeGreaterThan(20);
    const others = shown.filter(({ page, line }) => {
      if (page in pagesComparedBy) return false;
      const before = blocksOf(page)
        .filter((block) => block.line < line)
        .at(-1);
      return before === undefined || !examples.includes(before.text);
    });
    expect(others.map(({ first }) => first).sort()).toEqual(Object.keys(comparedBy).sort());
  });

  it.each([...Object.entries(comparedBy), ...Object.entries(pagesComparedBy)])(
    '%s: %s reads the page',
    (first, spec) => {
      const [page = ''] = first.split(': ');
      expect(read(spec)).toContain(page.replace(/.*\//, '').replace(/\.md$/, ''));
    },
  );
});
