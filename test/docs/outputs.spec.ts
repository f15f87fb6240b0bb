import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Controller, Injectable, type LoggerService } from '@nestjs/common';
import { EventPattern } from '@nestjs/microservices';
import { Consume, Queue, Retry } from 'dlx-broker';
import { longstr, silentOutbox } from 'dlx-broker/engine';
import { DlxTesting } from 'dlx-broker/testing';
import { expect, it } from 'vitest';
import { editQueue } from '../../libs/dlx-broker/src/cli/data-edit.js';
import { openBroker } from '../../libs/dlx-broker/src/server/serve/open-broker.js';
import { blocksOf } from './blocks.js';
import { read } from './pages.js';
import { commandsOf } from './shell.js';

/** The text of the only block of a page with this part. */
function blockWith(page: string, part: string): string {
  const found = blocksOf(page).filter(({ text }) => text.includes(part));
  expect(found, `${page}: ${part}`).toHaveLength(1);
  return found[0]!.text;
}

/** The output of the first command of a console. */
const outputOf = (text: string): string => text.replace(/^\$ .*\n/, '').replace(/^\$ [^]*$/m, '');

it('README.md: the story of npm start is that of sample-retry, which its own test tells', () => {
  const withoutTime = (line: string): string => line.trim().replace(/^\d+\.\d+ s +/, '');
  const all = [...read('apps/sample-retry/test/timeline.spec.ts').matchAll(/^ *'( .*)',$/gm)];
  const lines = blockWith('README.md', 'elapsed').split('\n').map(withoutTime);
  const story = lines.slice(lines.findIndex((line) => line.startsWith('elapsed')));
  const shown = story.filter((line) => line !== '' && line !== '...');
  expect(shown.length).toBeGreaterThan(5);
  expect(all.map(([, line]) => withoutTime(line!)).filter((line) => shown.includes(line))).toEqual(shown);
});

it('docs/guide/testing.md: a failed expectation shows what happened before', async () => {
  @Injectable()
  class Orders {
    @Consume('orders')
    @Retry({ attempts: 2, backoff: '5s' })
    create(): never {
      throw new Error('no tea');
    }
  }
  const dlx = await DlxTesting.create({ providers: [Orders] }, { logger: false });
  await dlx.publish('orders', { id: 1 });
  await dlx.advance('5s');
  let said = '';
  try {
    dlx.expectQueue('orders.parked').toHold([]);
  } catch (error) {
    said = `${(error as Error).message}\n`;
  }
  await dlx.close();
  expect(said).toBe(blockWith('docs/guide/testing.md', 'What happened:'));
});

it('docs/reference/log.md: a failed attempt is one line of the log', async () => {
  class OutOfStock extends Error {}
  @Controller()
  class OrdersController {
    @EventPattern<string>('order.created')
    @Queue('orders')
    @Retry({ attempts: 3, backoff: '1s' })
    created(): never {
      throw new OutOfStock('none left');
    }
  }
  const lines: string[] = [];
  const keep =
    (level: string) =>
    (text: unknown): void =>
      void lines.push(`${level.padEnd(5)} ${String(text)}`);
  const logger: LoggerService = { log: () => undefined, warn: keep('WARN'), error: keep('ERROR') };
  const dlx = await DlxTesting.create({ controllers: [OrdersController] }, { logger });
  await dlx.publish('orders', {});
  await dlx.advance('2s');
  await dlx.close();
  const shown = blockWith('docs/reference/log.md', 'attempt 1 of 3').replace('   (and its stack)', '').split('\n');
  // Warnings of the start, also of other applications, whose log is Nest's only one, do not count.
  const attempts = lines.filter((line) => line.includes(' OrdersController.created: attempt '));
  expect(attempts.filter((line) => !line.includes('attempt 2 of 3'))).toEqual(shown.slice(0, -1));
});

it('docs/guide/changing-queues.md: a renamed queue takes its bindings along', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'dlx-docs-'));
  const { broker, close } = await openBroker({ data: { directory, durability: 'none' } }, {});
  const channel = broker.connect().openChannel(silentOutbox);
  channel.declareExchange('shop', { type: 'topic', durable: true });
  channel.declareQueue('orders', { durable: true });
  channel.bindQueue('orders', 'shop', 'orders.#');
  const toOrders = new Map([
    ['x-dead-letter-exchange', longstr('')],
    ['x-dead-letter-routing-key', longstr('orders')],
  ]);
  channel.declareQueue('orders.wait', { durable: true, arguments: toOrders });
  for (let id = 0; id < 12; id++) channel.publish('', 'orders', { deliveryMode: 2 }, Buffer.from('{}'));
  await close();
  const text = blockWith('docs/guide/changing-queues.md', 'dry run: nothing was changed');
  const [dryRun, real] = commandsOf(text, true);
  expect(dryRun).toEqual(['dlx-broker', 'data', 'rename', './data', 'orders', 'orders.old', '--dry-run']);
  expect(real).toEqual(dryRun!.slice(0, -1));
  let said = '';
  const out = async (line: string): Promise<void> => void (said += line);
  await editQueue(directory, { vhost: '/', queue: 'orders', to: 'orders.old', dryRun: true }, out);
  expect(said).toBe(outputOf(text));
  await rm(directory, { recursive: true });
});
