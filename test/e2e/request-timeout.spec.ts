import { Controller, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type AsyncMicroserviceOptions, Ctx, MessagePattern, Payload } from '@nestjs/microservices';
import {
  DlxBroker,
  DlxBrokerModule,
  DlxClient,
  DlxContext,
  DlxRecordBuilder,
  DlxServer,
  Prefetch,
  RequestTimeoutError,
} from 'dlx-broker';
import { firstValueFrom, lastValueFrom, type Observable } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { here, isOfStart, until } from './places.js';

type SendOptions = NonNullable<Parameters<DlxClient['send']>[2]>;

/** A handler that answers when it is let. */
@Controller()
class Prices {
  readonly handled: unknown[] = [];
  readonly #held: (() => void)[] = [];

  @MessagePattern('price')
  @Prefetch(1)
  async price(@Payload() item: unknown, @Ctx() context: DlxContext): Promise<unknown> {
    this.handled.push([item, context.properties.expiration]);
    if (item === 'held') await new Promise<void>((resolve) => this.#held.push(resolve));
    return item;
  }

  letGo(): void {
    for (const resolve of this.#held.splice(0)) resolve();
  }
}

const close: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of close.splice(0)) await end();
  Logger.overrideLogger(false);
});

async function start() {
  const lines: string[] = [];
  const keep = (text: unknown): void => void (isOfStart(text) || lines.push(String(text)));
  @Module({ imports: [DlxBrokerModule.forRoot(here({}))], controllers: [Prices] })
  class Root {}
  const app = await NestFactory.createMicroservice<AsyncMicroserviceOptions>(Root, {
    logger: { log: () => undefined, warn: keep, error: keep, fatal: keep },
    abortOnError: false,
    inject: [DlxServer],
    useFactory: (server: DlxServer) => ({ strategy: server }),
  });
  close.push(() => app.close());
  await app.listen();
  lines.splice(0);
  return { app, client: app.get(DlxClient), prices: app.get(Prices), lines };
}

const failureOf = (answers: Observable<unknown>): Promise<unknown> =>
  lastValueFrom(answers).then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a request with a timeout', () => {
  it('expires in its queue, so that no handler gets it', async () => {
    const { app, client, prices, lines } = await start();
    const first = firstValueFrom(client.send('price', 'held'));
    await until(() => expect(prices.handled).toHaveLength(1));
    const record = new DlxRecordBuilder('waits').setExpiration('1h').build();
    for (const data of ['waits', record]) {
      const failure = await failureOf(client.send('price', data, { timeout: 20 }));
      expect(failure).toBeInstanceOf(RequestTimeoutError);
      expect(failure).toMatchObject({ message: "no answer to 'price' within 20 ms", pattern: 'price', timeout: 20 });
    }
    await until(async () =>
      expect(await app.get(DlxBroker).backend.status('Prices.price')).toMatchObject({ messages: 0 }),
    );
    prices.letGo();
    expect(await first).toBe('held');
    expect(await firstValueFrom(client.send('price', 'next', { timeout: '1m' }))).toBe('next');
    expect(prices.handled).toEqual([
      ['held', undefined],
      ['next', '60000'],
    ]);
    expect(app.get(DlxBroker).counts).toMatchObject({ acked: 2, rejected: 0, unroutable: 0 });
    expect(lines).toEqual([]);
  });

  it('that is at work runs to its end, and its answer is dropped without a line in the log', async () => {
    const { app, client, prices, lines } = await start();
    let timeout = 100;
    // A slow machine may need longer until the handler has the request.
    for (; prices.handled.length === 0; timeout *= 2) {
      expect(await failureOf(client.send('price', 'held', { timeout }))).toBeInstanceOf(RequestTimeoutError);
    }
    expect(prices.handled).toEqual([['held', String(timeout / 2)]]);
    prices.letGo();
    await until(() => expect(app.get(DlxBroker).counts.acked).toBe(1));
    expect(await firstValueFrom(client.send('price', 'next'))).toBe('next');
    expect(lines).toEqual([]);
  });

  it.each<[SendOptions, RegExp]>([
    [{ timeout: 0 }, /timeout of send: 0 is no time at all; leave it out/],
    [{ timeout: 'soon' }, /timeout of send/],
    [{ timeout: -1 }, /timeout of send/],
    [{ timout: 5 } as SendOptions, /timout.*timeout/],
  ])('is refused where it is wrong: %j', async (options, text) => {
    const { client } = await start();
    expect(await failureOf(client.send('price', 1, options))).toMatchObject({ message: expect.stringMatching(text) });
  });
});
