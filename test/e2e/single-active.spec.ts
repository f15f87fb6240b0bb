import { Injectable, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Consume, DlxBroker, DlxBrokerModule, Prefetch, sharedBroker, SingleActiveConsumer } from 'dlx-broker';
import { createBroker } from 'dlx-broker/engine';
import { afterEach, expect, it } from 'vitest';

const open: INestApplicationContext[] = [];
afterEach(async () => {
  for (const app of open.splice(0)) await app.close();
});

const begun: string[] = [];
const ends = new Map<string, () => void>();

@Injectable()
class Worker {
  @Consume('work')
  @SingleActiveConsumer()
  @Prefetch(2)
  async work(id: string): Promise<void> {
    begun.push(id);
    await new Promise<void>((resolve) => ends.set(id, resolve));
  }
}

it('a single active consumer that shuts down leaves the queue to the next one when nothing is at work', async () => {
  const broker = createBroker();
  const start = async (): Promise<INestApplicationContext> => {
    const module = {
      module: class {},
      imports: [DlxBrokerModule.forRoot({ broker: sharedBroker(broker) })],
      providers: [Worker],
    };
    const app = await NestFactory.createApplicationContext(module, { logger: false });
    open.push(app);
    return app;
  };
  const first = await start();
  const { backend } = (await start()).get(DlxBroker);
  for (const id of ['1', '2', '3', '4', '5']) {
    backend.publish({ exchange: '', routingKey: 'work', properties: {}, body: Buffer.from(`"${id}"`) });
  }
  await expect.poll(() => begun).toEqual(['1', '2']);
  const closed = first.close();
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve)); // its consumer begins to end
  ends.get('1')!();
  // The message that takes its place is not begun here, nor by the next consumer while 2 is at work.
  await expect.poll(() => broker.virtualHost('/').queues.get('work')!.length).toBe(2);
  expect(begun).toEqual(['1', '2']);
  ends.get('2')!();
  await closed;
  await expect.poll(() => begun).toEqual(['1', '2', '3', '4']);
  for (const id of ['3', '4']) ends.get(id)!();
  await expect.poll(() => begun).toEqual(['1', '2', '3', '4', '5']);
  ends.get('5')!();
});
