import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { afterAll, expect, it } from 'vitest';
import * as engine from '../../../../libs/dlx-broker/src/engine.js';
import * as testing from '../../../../libs/dlx-broker/src/testing.js';
import { lessons } from '../lessons/index.js';
import type { Command } from '../world/command.js';
import { World } from '../world/world.js';
import { specOf } from './spec-text';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const folder = mkdtempSync(join(root, 'apps/playground/src/page/.specs-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What RabbitMQ refuses, and what only the page refuses. */
const refusals: readonly Command[] = [
  { do: 'consume', queue: 'work', consumer: 'c' },
  { do: 'get', queue: 'work' },
  { do: 'declare-queue', queue: { name: 'work' } },
  { do: 'publish', key: 'work', body: 'a', count: 2 },
  { do: 'consume', queue: 'work', consumer: 'c' },
  { do: 'consume', queue: 'work', consumer: 'c' },
  { do: 'ack', consumer: 'c', held: 1 },
  { do: 'cancel', consumer: 'd' },
  { do: 'get', queue: 'work' },
  { do: 'ack', consumer: 'c' },
];

const texts = (['3.10', '4'] as const).flatMap((profile) =>
  [...lessons, { id: 'refusals', topology: {}, steps: refusals }].map(({ id, topology, steps }) => {
    const world = World.replay({ topology, profile }, steps);
    return { id: `${id} ${profile}`, text: specOf(world.setup, world.commands, world.state) };
  }),
);

it.each(texts)('$id passes as a test', ({ text }) => {
  const javascript = ts.transpile(text.replace(/^import .*$/gm, ''), { target: ts.ScriptTarget.ES2023 });
  const run = (_: string, body: () => void): void => body();
  const given = { ...engine, ...testing, expect, it: run };
  const names = ['silentOutbox', 'toFieldTable', 'harness', 'expect', 'it'] as const;
  new Function(...names, javascript)(...names.map((name) => given[name]));
});

it('all compile', () => {
  const files = texts.map(({ id, text }) => {
    const path = join(folder, `${id}.spec.ts`);
    writeFileSync(path, text);
    return path;
  });
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files }, ts.sys, root);
  const program = ts.createProgram(files, options);
  const errors = files.flatMap((path) => ts.getPreEmitDiagnostics(program, program.getSourceFile(path)));
  expect(
    errors.map(({ messageText, file }) => [file?.fileName, ts.flattenDiagnosticMessageText(messageText, '\n')]),
  ).toEqual([]);
});
