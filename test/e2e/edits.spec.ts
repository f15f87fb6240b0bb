import { NestFactory } from '@nestjs/core';
import { DeadLetters, DlxBroker, DlxBrokerModule, Redrives, UndecodablePayloadError } from 'dlx-broker';
import { EditRefusedError } from 'dlx-broker/streams';
import { expect, it } from 'vitest';
import { here, until } from './places.js';

interface Order {
  readonly n: number;
  readonly currency?: string;
}

const start = async () => {
  const module = { module: class {}, imports: [DlxBrokerModule.forRoot(here())] };
  const app = await NestFactory.createApplicationContext(module, { logger: false });
  const { backend } = app.get(DlxBroker);
  const lying = { durable: true, exclusive: false, autoDelete: false, arguments: new Map() };
  await backend.declare({ exchanges: [], bindings: [], queues: ['dead', 'work'].map((name) => ({ ...lying, name })) });
  const publish = (body: string, messageId: string): Promise<void> =>
    new Promise((resolve, reject) =>
      backend.publish(
        {
          exchange: '',
          routingKey: 'dead',
          properties: { messageId, contentType: 'application/json' },
          body: Buffer.from(body),
        },
        (failure) => (failure === undefined ? resolve() : reject(failure)),
      ),
    );
  /** What lies in a queue, without its headers. */
  const taken = async (queue: string, count: number) => {
    const all: (readonly [id: string | undefined, body: string, edits: unknown])[] = [];
    const consumption = backend.consume(queue, { prefetch: 0 }, (delivery) => {
      const { body, properties } = delivery.message;
      all.push([properties.messageId, Buffer.from(body).toString(), properties.headers?.get('dlx-edited')?.value]);
      delivery.ack();
    });
    await until(() => expect(all).toHaveLength(count));
    consumption.close();
    return all;
  };
  return { app, publish, taken, letters: app.get(DeadLetters), redrives: app.get(Redrives) };
};

it('a letter is redriven with another payload, and stays if the edit is refused', async () => {
  const { app, publish, taken, letters } = await start();
  await publish('{"n":1}', 'm-1');
  const refused = await new Promise((resolve, reject) => {
    const stream = letters.from<Order>('dead', { prefetch: 1 }).subscribe({
      next: (letter) => {
        const locked = letter.redrive('work', { headers: { 'dlx-redrives': 0 } });
        locked
          .catch(async (failure: unknown) => {
            await letter.redrive('work', { payload: { n: 2 }, headers: { mended: true } });
            resolve(failure);
            stream.unsubscribe();
          })
          .catch(reject);
      },
      error: reject,
    });
  });
  expect(refused).toBeInstanceOf(EditRefusedError);
  expect(await taken('work', 1)).toEqual([['m-1', '{"n":2}', 1]]);
  await app.close();
});

it('a redrive edits what its function returns, and leaves the rest', async () => {
  const { app, publish, taken, redrives } = await start();
  const bodies = ['{"n":1}', 'no JSON', '{"n":2,"currency":"USD"}', '{"n":3}', '{"n":4}'];
  for (const [index, body] of bodies.entries()) await publish(body, `m-${index}`);
  const task = redrives.start<Order>({
    from: 'dead',
    to: 'work',
    perSecond: 1_000,
    circuit: false,
    edit: ({ payload }) => {
      if (payload instanceof UndecodablePayloadError) return undefined;
      if (payload.n === 3) throw new Error('of the application');
      return { payload: { ...payload, currency: payload.currency ?? 'EUR' } };
    },
  });
  expect(await task.ended).toMatchObject({ state: 'done', redriven: 2, left: 3, unedited: 3 });
  expect(await taken('work', 2)).toEqual([
    ['m-0', '{"n":1,"currency":"EUR"}', 1],
    ['m-4', '{"n":4,"currency":"EUR"}', 1],
  ]);
  expect((await taken('dead', 3)).map(([id]) => id).sort()).toEqual(['m-1', 'm-2', 'm-3']);
  await app.close();
});
