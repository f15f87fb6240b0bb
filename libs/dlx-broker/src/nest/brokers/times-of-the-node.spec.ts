import { Injectable } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { afterEach, expect, it } from 'vitest';
import { ManualClock } from '../../testing/manual-clock.js';
import { DlxBroker } from '../broker.js';
import { Consume, Ordered, Retry } from '../decorators/index.js';
import { DlxBrokerModule } from '../dlx-broker.module.js';
import { embedded } from './embedded.js';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

@Injectable()
class Orders {
  @Consume('orders')
  @Ordered({ key: (id: number) => id })
  @Retry({ attempts: 12, backoff: '5m' })
  ship(): void {}
}

async function start(consumerTimeout: number | string | false | undefined) {
  const clock = new ManualClock();
  const broker = embedded({ clock, ...(consumerTimeout !== undefined && { consumerTimeout }) });
  const module = { module: class {}, imports: [DlxBrokerModule.forRoot({ broker })], providers: [Orders] };
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
  expect((await start('2h')).consumerTimeout).toEqual({ limit: 7_200_000, byQueue: false });
  expect((await start(false)).consumerTimeout).toEqual({ limit: Infinity, byQueue: false });
});
