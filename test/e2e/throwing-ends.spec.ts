import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { customBackend, DeadLetters, DlxBroker, DlxBrokerModule, DlxClient, Redrives } from 'dlx-broker';
import { createBroker, EmbeddedBackend } from 'dlx-broker/engine';
import { finalize, type Observable } from 'rxjs';
import { afterEach, expect, it } from 'vitest';
import { silentOutbox } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { until } from './places.js';

afterEach(() => Logger.overrideLogger(false));

interface Parts {
  readonly broker: DlxBroker;
  readonly client: DlxClient;
  readonly letters: DeadLetters;
  readonly redrives: Redrives;
}

const rows: readonly (readonly [string, (parts: Parts) => Observable<unknown>, string | undefined])[] = [
  ['a request', ({ client }) => client.to({ queue: 'never', envelope: 'nest' }).send('x', {}), 'a request'],
  ['the events', ({ broker }) => broker.events, 'the events'],
  ['letters', ({ letters }) => letters.from('dead'), undefined], // RxJS's own takeUntil catches it
  [
    'a redrive',
    ({ redrives }) => {
      const [running] = redrives.running;
      const to = { exchange: '', routingKey: 'never' };
      return (running ?? redrives.start({ from: 'dead', to, perSecond: 1 })).progress;
    },
    'a redrive',
  ],
];

it.each(rows)('subscribers that throw at the end of %s keep nothing open', async (_, streamOf, named) => {
  const lines: string[] = [];
  const logger = { log: () => undefined, warn: () => undefined, error: (line: string) => lines.push(line) };
  const engine = createBroker();
  const channel = engine.connect().openChannel(silentOutbox);
  channel.declareQueue('never', { durable: true });
  channel.declareQueue('dead', { durable: true });
  for (let count = 0; count < 10; count++) channel.publish('', 'dead', {}, Buffer.from('1'));
  const broker = customBackend(new EmbeddedBackend(engine));
  const app = await NestFactory.createApplicationContext(DlxBrokerModule.forRoot({ broker }), { logger });
  const client = app.get(DlxClient);
  await client.connect();
  const parts = { broker: app.get(DlxBroker), client, letters: app.get(DeadLetters), redrives: app.get(Redrives) };
  const ended: number[] = [];
  for (const number of [1, 2, 3]) {
    const throws = finalize(() => {
      ended.push(number);
      throw new Error(`end ${number}`);
    });
    streamOf(parts)
      .pipe(throws)
      .subscribe({ error: () => undefined });
  }
  await app.close();
  await until(() => expect(ended.toSorted()).toEqual([1, 2, 3]));
  await expect(client.connect(), 'the steps behind were taken').rejects.toThrow('closed');
  const about = lines.filter((line) => line.includes('threw an error'));
  expect(about).toHaveLength(named === undefined ? 0 : 3);
  for (const line of about)
    expect(line).toMatch(new RegExp(`^a subscriber of ${named} threw an error: .*end [123]`, 's'));
});
