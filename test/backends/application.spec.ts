import { Controller } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { DlxBroker, DlxBrokerModule, DlxClient, DlxServer, rabbitmq, Retry } from 'dlx-broker';
import { firstValueFrom, from, lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { Proxy } from './proxy.js';
import { serverKinds } from './worlds.js';
import { endsAfterEach } from '../harnesses/ends.js';

for (const kind of serverKinds) {
  const unavailable = await kind.unavailable();
  if (unavailable !== undefined) console.warn(`SKIPPED: applications on ${kind.name}: ${unavailable}`);

  describe.skipIf(unavailable !== undefined)(`an application on ${kind.name}`, () => {
    const ends = endsAfterEach();

    async function arrange() {
      const world = await kind.open();
      ends.push(() => world.close());
      const proxy = await Proxy.open(world.url!);
      ends.push(() => proxy.close());
      const seen: string[] = [];

      @Controller()
      class Shop {
        @MessagePattern('price')
        price(@Payload() { item }: { item: string }): { item: string; price: number } {
          if (item === 'dragon') throw new Error('no dragons here');
          return { item, price: item.length };
        }

        @MessagePattern('count')
        count(@Payload() { to }: { to: number }) {
          return from(Array.from({ length: to }, (_, index) => index + 1));
        }

        @EventPattern('paid')
        @Retry({ attempts: 3, backoff: 50 })
        paid(@Payload() { id }: { id: string }): void {
          seen.push(id);
          if (id === 'bad') throw new Error('refused');
        }
      }

      const broker = rabbitmq({ urls: proxy.url, longestPause: 100, publishTimeout: '8s', closeTimeout: '1s' });
      const app = await NestFactory.create(
        { module: class {}, controllers: [Shop], imports: [DlxBrokerModule.forRoot({ broker })] },
        { logger: false, abortOnError: false },
      );
      ends.push(() => app.close());
      const server = app.get(DlxServer);
      app.connectMicroservice({ strategy: server }, { inheritAppConfig: true });
      const statuses: string[] = [];
      server.status.subscribe((status) => statuses.push(status));
      await app.startAllMicroservices();
      await app.init();
      return { app, client: app.get(DlxClient), dlx: app.get(DlxBroker), proxy, seen, statuses };
    }

    it('answers requests, with a value, a stream or an error', async () => {
      const { client } = await arrange();
      expect(await firstValueFrom(client.send('price', { item: 'tea' }))).toEqual({ item: 'tea', price: 3 });
      expect(await lastValueFrom(client.send('count', { to: 4 }).pipe(toArray()))).toEqual([1, 2, 3, 4]);
      await expect(firstValueFrom(client.send('price', { item: 'dragon' }))).rejects.toMatchObject({ status: 'error' });
      await expect(firstValueFrom(client.send('nothing', {}))).rejects.toMatchObject({ name: 'UnroutableError' });
    });

    it('retries and parks; the status follows the connection, and everything goes on after it was lost', async () => {
      const { client, dlx, proxy, seen, statuses } = await arrange();
      await lastValueFrom(client.emit('paid', { id: 'bad' }), { defaultValue: undefined });
      await expect.poll(() => dlx.counts, { timeout: 5_000 }).toMatchObject({ retried: 2, parked: 1 });
      expect(seen).toEqual(['bad', 'bad', 'bad']);
      proxy.shut();
      await expect.poll(() => statuses.at(-1)).toBe('reconnecting');
      const emitted = Promise.all(
        ['a', 'b', 'c'].map((id) => lastValueFrom(client.emit('paid', { id }), { defaultValue: undefined })),
      );
      proxy.reopen();
      await emitted;
      await expect.poll(() => seen.slice(3).sort(), { timeout: 5_000 }).toEqual(['a', 'b', 'c']);
      // The server listens before the application has connected.
      expect(statuses).toEqual(['disconnected', 'connected', 'reconnecting', 'connected']);
      expect(await firstValueFrom(client.send('price', { item: 'tea' }))).toEqual({ item: 'tea', price: 3 });
    });

    it('a request whose answer was lost with the connection fails, and says that it may have been handled', async () => {
      const { client, proxy } = await arrange();
      await firstValueFrom(client.send('price', { item: 'tea' }));
      proxy.deafen();
      const asked = firstValueFrom(client.send('price', { item: 'milk' }));
      asked.catch(() => undefined);
      proxy.cut();
      await expect(asked).rejects.toMatchObject({ name: 'ConnectionLostError', retry: 'later', mayBeTaken: true });
      await expect
        .poll(() => firstValueFrom(client.send('price', { item: 'tea' })), { timeout: 8_000 })
        .toEqual({ item: 'tea', price: 3 });
    });

    it('shuts down without losing what a handler has in hand', async () => {
      const { app, client, dlx, seen } = await arrange();
      for (let count = 0; count < 50; count++) client.emit('paid', { id: `${count}` });
      await app.close();
      const { acked } = dlx.counts;
      expect(acked).toBe(seen.length); // what was begun was finished
    });
  });
}
