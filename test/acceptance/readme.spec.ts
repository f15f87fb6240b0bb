import { readFileSync } from 'node:fs';
import { format } from 'node:util';
import { NestFactory } from '@nestjs/core';
import { DlxBrokerModule } from 'dlx-broker';
import ts from 'typescript';
import { afterEach, expect, it, vi } from 'vitest';
import { embeddedChecks } from '../../libs/dlx-broker/src/nest/brokers/embedded.js';
import { amqpChecks, httpChecks, listenChecks } from '../../libs/dlx-broker/src/nest/brokers/listen.js';
import { publishBufferChecks, rabbitmqChecks } from '../../libs/dlx-broker/src/nest/brokers/rabbitmq.js';
import { forRootChecks } from '../../libs/dlx-broker/src/nest/module/options.js';
import { allDecorators } from '../harnesses/all-decorators.js';
import { here } from '../e2e/places.js';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const readme = read('README.md');
const example = read('test/acceptance/first-handler.ts');

afterEach(() => vi.restoreAllMocks());

it('the first handler of the README is the one that is run here', () => {
  const [, block] = /```ts\n([\s\S]*?)```/.exec(readme) ?? [];
  expect(block).toBe(example);
});

it('the first handler sees its message die, and why', async () => {
  const create = vi.spyOn(NestFactory, 'createApplicationContext');
  const forRoot = DlxBrokerModule.forRoot.bind(DlxBrokerModule);
  vi.spyOn(DlxBrokerModule, 'forRoot').mockImplementation((options) => forRoot(here(options)));
  for (const stream of [process.stdout, process.stderr]) vi.spyOn(stream, 'write').mockReturnValue(true);
  const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  await import('./first-handler.js');
  await vi.waitFor(() => expect(printed).toHaveBeenCalledTimes(1), { interval: 1, timeout: 8_000 });
  const death = {
    queue: 'orders',
    reason: 'rejected',
    exchange: 'dlx.events',
    routingKeys: ['order.created'],
    count: 1,
  };
  expect(printed).toHaveBeenCalledWith({ id: 7 }, 'order.created', [{ ...death, time: expect.any(Date) as Date }]);
  const [, said] = /```text\n(\{ id[\s\S]*?)```/.exec(readme) ?? [];
  const time = /time: (\S+Z)/.exec(said ?? '')?.[1];
  expect(`${format(...(printed.mock.calls[0] as unknown[]))}\n`.replace(/time: \S+Z/, `time: ${time}`)).toBe(said);
  await (await create.mock.results[0]!.value)?.close();
});

it('the tsconfig.json of docs/guide/getting-started.md has options that TypeScript knows, and the types of Node, which it takes by name only', () => {
  const [, block = ''] = /```json\n([\s\S]*?)```/.exec(read('docs/guide/getting-started.md')) ?? [];
  const { compilerOptions } = JSON.parse(block) as { compilerOptions: Readonly<Record<string, unknown>> };
  const { options, errors } = ts.convertCompilerOptionsFromJson(compilerOptions, '.');
  expect(errors).toEqual([]);
  expect(options).toMatchObject({ types: ['node'], experimentalDecorators: true, emitDecoratorMetadata: true });
});

it.each([
  ['forRoot', forRootChecks, 15],
  ['embedded()', embeddedChecks, 9],
  ['listen', listenChecks, 5],
  ['rabbitmq()', rabbitmqChecks, 17],
  ['publishBuffer', publishBufferChecks, 2],
  ['listen.amqp', amqpChecks, 8],
  ['listen.http', httpChecks, 7],
])('every option of %s stands in docs/reference/options.md', (_, checks, count) => {
  const options = Object.keys(checks);
  expect(options.length).toBeGreaterThanOrEqual(count);
  const page = read('docs/reference/options.md');
  expect(options.filter((option) => !page.includes(`\`${option}\``))).toEqual([]);
});

it('every decorator of the package stands in docs/reference/decorators.md', () => {
  const names = allDecorators.map(([name]) => name);
  expect(names.length).toBeGreaterThan(10);
  const page = read('docs/reference/decorators.md');
  expect(names.filter((name) => !page.includes(`@${name}`))).toEqual([]);
});
