import { Controller, Injectable } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { DlxBroker, DlxBrokerModule, DlxClient, DlxServer, rabbitmq, Retry } from 'dlx-broker';
import { firstValueFrom, lastValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { endsAfterEach } from '../harnesses/ends.js';
import { Proxy } from './proxy.js';
import { serverKinds } from './worlds.js';

/** What the handlers of one application know. */
@Injectable()
class Own {
  name = '';
  readonly seen: string[] = [];
}

@Controller()
class Shop {
  constructor(private readonly own: Own) {}

  @MessagePattern('price')
  async price(@Payload() { item }: { item: string }) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return { item, by: this.own.name };
  }

  @EventPattern('paid')
  @Retry({ attempts: 3, backoff: 50 })
  async paid(@Payload() { id }: { id: string }): Promise<void> {
    this.own.seen.push(id);
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (id.startsWith('bad')) throw new Error('refused');
  }
}

for (const kind of serverKinds) {
  const unavailable = await kind.unavailable();
  if (unavailable !== undefined) console.warn(`SKIPPED: two applications on ${kind.name}: ${unavailable}`);

  describe.skipIf(unavailable !== undefined)(`two applications of one process on ${kind.name}`, () => {
    const ends = endsAfterEach();

    /** The address of a server, by a proxy. */
    async function server(): Promise<Proxy> {
      const world = await kind.open();
      ends.push(() => world.close());
      const proxy = await Proxy.open(world.url!);
      ends.push(() => proxy.close());
      return proxy;
    }

    async function start(name: string, url: string) {
      const broker = rabbitmq({ urls: url, longestPause: 100, publishTimeout: '8s', closeTimeout: '2s' });
      const imports = [DlxBrokerModule.forRoot({ broker })];
      const app = await NestFactory.create(
        { module: class {}, controllers: [Shop], providers: [Own], imports },
        { logger: false, abortOnError: false },
      );
      ends.push(() => app.close());
      const own = app.get(Own);
      own.name = name;
      app.connectMicroservice({ strategy: app.get(DlxServer) }, { inheritAppConfig: true });
      await app.startAllMicroservices();
      await app.init();
      return { app, own, client: app.get(DlxClient), dlx: app.get(DlxBroker) };
    }

    const ask = (client: DlxClient, item: string): Promise<{ item: string; by: string }> =>
      firstValueFrom(client.send('price', { item }));
    const emit = (client: DlxClient, id: string): Promise<unknown> =>
      lastValueFrom(client.emit('paid', { id }), { defaultValue: undefined });
    const named = (count: number, prefix: string): string[] =>
      Array.from({ length: count }, (_, at) => `${prefix}${at}`);

    it('share the work of one server, and each gets the answers to its own requests', async () => {
      const { url } = await server();
      const apps = [await start('one', url), await start('two', url)];
      const answers = await Promise.all(
        apps.flatMap(({ client }, app) =>
          named(40, `${app}-`).map(async (item) => {
            const answer = await ask(client, item);
            expect(answer.item).toBe(item);
            return answer.by;
          }),
        ),
      );
      expect(new Set(answers)).toEqual(new Set(['one', 'two']));
    });

    it('on one server: one closes while both work, and all that was confirmed is handled', async () => {
      const { url } = await server();
      const [one, two] = [await start('one', url), await start('two', url)];
      const ids = named(60, 'a');
      const sent = Promise.all(ids.map((id, at) => emit(at % 2 === 0 ? one.client : two.client, id)));
      const asked = Promise.all(named(40, 'x').map((item) => ask(two.client, item)));
      await sent;
      await one.app.close();
      await emit(two.client, 'bad');
      await expect
        .poll(() => [...one.own.seen, ...two.own.seen].filter((id) => id !== 'bad').toSorted())
        .toEqual(ids.toSorted());
      expect((await asked).map(({ item }) => item)).toEqual(named(40, 'x'));
      await expect.poll(() => two.dlx.counts, { timeout: 5_000 }).toMatchObject({ retried: 2, parked: 1 });
      const handled = one.own.seen.length;
      expect((await ask(two.client, 'y')).by).toBe('two');
      expect(one.own.seen.length).toBe(handled);
      await expect(ask(one.client, 'late')).rejects.toMatchObject({ name: 'ClientClosedError' });
    });

    it('on two servers: the loss of one server, and the end of its application, leave the other alone', async () => {
      const [here, there] = [await server(), await server()];
      const [one, two] = [await start('one', here.url), await start('two', there.url)];
      await Promise.all([emit(one.client, 'here'), emit(two.client, 'there')]);
      await expect.poll(() => [one.own.seen, two.own.seen]).toEqual([['here'], ['there']]);
      here.shut();
      expect(await Promise.all(named(20, 'x').map((item) => ask(two.client, item)))).toEqual(
        named(20, 'x').map((item) => ({ item, by: 'two' })),
      );
      const waiting = emit(one.client, 'later');
      here.reopen();
      await waiting;
      // A message whose ack was cut off comes again.
      await expect.poll(() => [...new Set(one.own.seen)], { timeout: 5_000 }).toEqual(['here', 'later']);
      await one.app.close();
      expect(await ask(two.client, 'y')).toEqual({ item: 'y', by: 'two' });
      expect(two.own.seen).toEqual(['there']);
    });
  });
}
