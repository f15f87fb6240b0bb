import { NestFactory } from '@nestjs/core';
import { afterEach, expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.js';
import { EmbeddedBackend } from '../../backends/index.js';
import { silentOutbox } from '../../engine/broker/index.js';
import { longstr } from '../../engine/message/index.js';
import { DlxBroker } from '../module/broker.js';
import { Consume, DeadLetter, QueueArguments, Quorum, Retry } from '../decorators/index.js';
import { Ordered } from '../features/index.js';
import { DlxBrokerModule } from '../module/dlx-broker.module.js';
import { embedded } from './embedded.js';
import { classOf } from '../../../../../test/harnesses/class-of.js';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const Orders = classOf('Orders', {
  ship: [Consume('orders'), Ordered({ key: (id: number) => id }), Retry({ attempts: 12, backoff: '5m' })],
});

const Late = classOf('Late', {
  ship: [
    Consume('orders'),
    Ordered({ key: (id: number) => id }),
    Retry({ attempts: 12, backoff: '5m' }),
    QueueArguments({ 'x-consumer-timeout': 7_200_000 }),
    Quorum(),
    DeadLetter(false),
  ],
});

async function start(consumerTimeout: number | string | false | undefined, handlers = Orders) {
  const clock = new ManualClock();
  const broker = embedded({ clock, ...(consumerTimeout !== undefined && { consumerTimeout }) });
  const module = { module: class {}, imports: [DlxBrokerModule.forRoot({ broker })], providers: [handlers] };
  const app = await NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
  ends.push(() => app.close());
  return app.get(DlxBroker).backend;
}

it('a policy of @Ordered fits the consumer timeout of the embedded broker', async () => {
  await expect(start(undefined)).rejects.toThrow(
    /for 3300000 ms or more, and a server takes a message back after 30 minutes/,
  );
  await expect(start('1h')).rejects.toThrow(
    /and a server takes a message back after 3600000 ms; .* below 3000000 ms, .* \(option 'consumerTimeout'\)/,
  );
  expect((await start('2h')).consumerTimeout).toEqual({ limit: 7_200_000, byQueue: true, quorumOnly: true });
  expect((await start(false)).consumerTimeout).toEqual({ limit: Infinity, byQueue: true, quorumOnly: true });
});

it('the remedy that @Ordered names for one queue is one that RabbitMQ 4.3 takes (rules F9, Q8)', async () => {
  await expect(start(undefined)).rejects.toThrow(/'x-consumer-timeout': .* since 4\.3 with @Quorum\(\)$/);
  expect((await start(undefined, Late)).consumerTimeout).toMatchObject({ limit: 1_800_000 });
});

it('rule M3: the time of deadLetterRetryAfter passes before a kept dead letter is published again', async () => {
  const clock = new ManualClock();
  const broker = embedded({ clock, deadLetterRetryAfter: '5s' });
  const module = { module: class {}, imports: [DlxBrokerModule.forRoot({ broker })] };
  const app = await NestFactory.createApplicationContext(module, { logger: false });
  ends.push(() => app.close());
  const engine = (app.get(DlxBroker).backend as EmbeddedBackend).broker;
  const channel = engine.connect().openChannel(silentOutbox);
  const values = {
    'x-queue-type': 'quorum',
    'x-dead-letter-exchange': '',
    'x-dead-letter-routing-key': 'late',
    'x-dead-letter-strategy': 'at-least-once',
    'x-overflow': 'reject-publish',
  };
  const args = new Map(Object.entries(values).map(([name, value]) => [name, longstr(value)]));
  channel.declareQueue('work', { durable: true, arguments: args });
  channel.publish('', 'work', {}, Buffer.from('kept'));
  channel.reject(channel.get('work')!.deliveryTag, false);
  channel.declareQueue('late');
  const arrived = (): number => engine.virtualHost('/').queues.get('late')!.length;
  clock.advance(4_999);
  expect(arrived()).toBe(0);
  clock.advance(1);
  expect(arrived()).toBe(1);
});
