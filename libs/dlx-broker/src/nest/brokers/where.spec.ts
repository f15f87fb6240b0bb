import 'reflect-metadata';
import { Injectable, type LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom } from 'rxjs';
import { afterAll, expect, it } from 'vitest';
import { serve } from '../../server/serve/serve.js';
import { DlxClient } from '../client/client.js';
import { Consume, Retry } from '../decorators/index.js';
import { DlxBrokerModule } from '../module/dlx-broker.module.js';
import { DlxRecordBuilder } from '../client/record-builder.js';
import { embedded } from './embedded.js';
import type { BrokerChoice } from './made.js';
import { rabbitmq } from './rabbitmq.js';

const folder = mkdtempSync(join(tmpdir(), 'where-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

@Injectable()
class Orders {
  @Consume({ queue: 'orders', routingKey: 'order.created' })
  @Retry({ attempts: 3, backoff: '1h' })
  handle(): never {
    throw new Error('no');
  }
}

/** What an application with that broker logs about its place, and about messages that are lost. */
async function linesOn(broker: BrokerChoice | undefined, orders: number, publish?: 'delayed'): Promise<string[]> {
  const lines: string[] = [];
  const keep =
    (level: string) =>
    (text: unknown): void =>
      void (
        /behaves as|in memory|data directory|connected/.test(String(text)) && lines.push(`${level} ${String(text)}`)
      );
  const logger: LoggerService = { log: keep('LOG'), warn: keep('WARN'), error: keep('ERROR') };
  const imports = [DlxBrokerModule.forRoot(broker === undefined ? {} : { broker })];
  const app = await NestFactory.createApplicationContext({ module: Orders, imports, providers: [Orders] }, { logger });
  const client = app.get(DlxClient);
  for (let n = 0; n < orders; n++) {
    const data = publish === undefined ? {} : new DlxRecordBuilder({}).setDelay('1h').build();
    await firstValueFrom(client.emit('order.created', data), { defaultValue: undefined });
  }
  await app.close();
  return lines;
}

const found = 'LOG behaves as RabbitMQ 4.3.6, in memory: nothing survives this process';
const lost = (messages: string) =>
  `WARN ${messages} lost, because the broker was in memory; option 'dataDir' of embedded() keeps them`;

it.each([
  ['nothing', undefined, 0, undefined, [found]],
  ['ten orders in retry', undefined, 10, undefined, [found, lost('10 messages are')]],
  ['a delayed event', embedded(), 1, 'delayed', [found, lost('1 message is')]],
] as const)(
  'the log says that the broker is in memory, which RabbitMQ it behaves like, and that %s is lost at the close',
  async (_, broker, orders, how, lines) => {
    expect(await linesOn(broker, orders, how)).toEqual(lines);
  },
);

it('a data directory loses nothing, and the log names it', async () => {
  const broker = embedded({ dataDir: folder, rabbitmq: '3.10' });
  const line = `LOG behaves as RabbitMQ 3.10.8, data directory ${folder}`;
  expect(await linesOn(broker, 10)).toEqual([`${line}: new`]);
  expect(await linesOn(broker, 0)).toEqual([`${line}: 10 messages`]);
});

it('a server is named without the password; a server in memory says so, and what it loses', async () => {
  const notices: string[] = [];
  const losses: number[] = [];
  const server = await serve({
    amqp: { host: '127.0.0.1', port: 0 },
    notice: (text) => notices.push(text),
    lost: (messages) => losses.push(messages),
  });
  const { port } = server.amqp;
  const lines = await linesOn(rabbitmq({ urls: `amqp://guest:guest@127.0.0.1:${port}` }), 3);
  await server.close();
  expect(lines).toEqual([
    expect.stringMatching(new RegExp(`^LOG connected to dlx-broker \\S+ at 127\\.0\\.0\\.1:${port}$`)),
  ]);
  const older = await serve({ amqp: { host: '127.0.0.1', port: 0 }, rabbitmq: '3.10', notice: () => undefined });
  const [line] = await linesOn(rabbitmq({ urls: `amqp://guest:guest@127.0.0.1:${older.amqp.port}` }), 0);
  await older.close();
  expect(line).toMatch(/127\.0\.0\.1:\d+; to test with its behaviour, set embedded\(\{ rabbitmq: '3\.10' \}\)$/);
  expect(notices[0]).toBe('behaves as RabbitMQ 4.3.6, in memory: nothing survives this process');
  expect(losses).toEqual([3]);
});
