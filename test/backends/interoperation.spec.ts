import { Controller, type LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  type ClientProxy,
  Ctx,
  EventPattern,
  MessagePattern,
  Payload,
  RmqRecordBuilder,
  RpcException,
} from '@nestjs/microservices';
import {
  type BrokerChoice,
  Consume,
  DlxBroker,
  DlxBrokerModule,
  DlxClient,
  DlxContext,
  DlxRecordBuilder,
  DlxServer,
  embedded,
  Queue,
  queue,
  rabbitmq,
  Redrives,
  Retry,
} from 'dlx-broker';
import { firstValueFrom, from, lastValueFrom, type Observable, toArray } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { golevelupApp, golevelupExchange } from './golevelup.js';
import { nestClient, nestServer } from './nest-rmq.js';
import { serverKinds, type World } from './worlds.js';

const one = (stream: Observable<unknown>): Promise<unknown> => firstValueFrom(stream, { defaultValue: 'nothing' });
const all = (stream: Observable<unknown>): Promise<unknown> => lastValueFrom(stream.pipe(toArray()));

const limit = { 'x-max-length': 1_000 };

/** An application of this library: handlers of packets share the queue `packets`, the others have queues of their own. */
async function ourApp(broker: BrokerChoice) {
  const seen: unknown[] = [];
  const warnings: string[] = [];
  let isBroken = true;
  const packets = () => Queue({ name: 'packets', envelope: 'nest', arguments: limit });

  @Controller()
  class Ours {
    @MessagePattern('sum')
    @packets()
    sum(@Payload() numbers: number[]): number {
      return numbers.reduce((one, other) => one + other, 0);
    }

    @MessagePattern({ of: 'things', cmd: 'count' })
    @packets()
    count(@Payload() to: number) {
      return from(Array.from({ length: to }, (_, index) => index + 1));
    }

    @MessagePattern('fail')
    @packets()
    fail(): never {
      throw new RpcException({ code: 7 });
    }

    @MessagePattern('nothing')
    @packets()
    nothing(): void {}

    @EventPattern<string>('order.*')
    @packets()
    @Retry({ attempts: 2, backoff: 20 })
    ordered(@Payload() order: { readonly bad?: true }, @Ctx() context: DlxContext): void {
      const { tenant } = context.headers;
      seen.push([context.getPattern(), order, ...(tenant === undefined ? [] : [tenant])]);
      if (order.bad === true && isBroken) throw new Error('broken');
    }

    @Consume({ queue: 'plain', routingKey: 'plain.*' })
    plain(@Payload() data: unknown): void {
      seen.push(data);
    }

    @MessagePattern('plain.count')
    plainCount(@Payload() { of }: { readonly of: readonly unknown[] }): { readonly count: number } {
      if (of.length === 0) throw new RpcException({ code: 8 });
      return { count: of.length };
    }
  }

  const logger: LoggerService = {
    log: () => undefined,
    error: () => undefined,
    warn: (text: unknown) => void warnings.push(String(text)),
  };
  const imports = [DlxBrokerModule.forRoot({ broker, topology: { queues: [queue('refused')] } })];
  const app = await NestFactory.create(
    { module: class {}, imports, controllers: [Ours] },
    { logger: false, abortOnError: false },
  );
  app.connectMicroservice({ strategy: app.get(DlxServer) }, { inheritAppConfig: true });
  await app.startAllMicroservices();
  await app.init();
  const repair = (): void => void (isBroken = false);
  const suspicions = (): string[] => warnings.filter((text) => text.includes('looks like a packet'));
  return { app, logger, seen, suspicions, repair, client: app.get(DlxClient), counts: () => app.get(DlxBroker).counts };
}

/** A started application, and where clients of other libraries reach its broker. */
async function onServer(world: World) {
  const ours = await ourApp(rabbitmq({ urls: world.url!, publishTimeout: '5s', closeTimeout: '1s' }));
  return { ours, url: world.url! };
}

async function onEmbedded() {
  const ours = await ourApp(embedded({ listen: { amqp: { port: 0 } } }));
  return { ours, url: `amqp://guest:guest@127.0.0.1:${ours.app.get(DlxBroker).amqp!.port}` };
}

const places = [
  { name: 'embedded()', unavailable: async () => undefined, open: onEmbedded, end: async () => undefined },
  ...serverKinds.map((kind) => {
    let world: World | undefined;
    return {
      name: kind.name,
      unavailable: kind.unavailable,
      open: async () => onServer((world = await kind.open())),
      end: () => world?.close(),
    };
  }),
];

for (const place of places) {
  const unavailable = await place.unavailable();
  if (unavailable !== undefined) console.warn(`SKIPPED: interoperation on ${place.name}: ${unavailable}`);

  describe.skipIf(unavailable !== undefined)(`on ${place.name}`, () => {
    let ours: Awaited<ReturnType<typeof ourApp>>;
    let theirs: Awaited<ReturnType<typeof nestServer>>;
    let wild: Awaited<ReturnType<typeof nestServer>>;
    let golevelup: Awaited<ReturnType<typeof golevelupApp>>;
    let url: string;
    const clients: ClientProxy[] = [];
    const clientRmq = (options: Parameters<typeof nestClient>[1]): ClientProxy => {
      const client = nestClient(url, options);
      clients.push(client);
      return client;
    };

    beforeAll(async () => {
      ({ ours, url } = await place.open());
      const dead = { arguments: { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'refused' } };
      [theirs, wild, golevelup] = await Promise.all([
        nestServer(url, { queue: 'theirs', noAck: false, queueOptions: dead }),
        nestServer(url, { queue: 'wild', exchange: 'wild.events', wildcards: true }),
        golevelupApp(url),
      ]);
      ours.app.useLogger(ours.logger); // each new application of this process has changed it
    });
    afterAll(async () => {
      for (const client of clients) await client.close();
      for (const { app } of [golevelup, theirs, wild, ours]) await app.close();
      await place.end();
    });

    describe('ClientRMQ to a queue with envelope nest', () => {
      it('sends requests, and gets values, streams, nothing and errors', async () => {
        const client = clientRmq({ queue: 'packets', noAssert: true });
        expect(await one(client.send('sum', [1, 2, 4]))).toBe(7);
        expect(await all(client.send({ cmd: 'count', of: 'things' }, 4))).toEqual([1, 2, 3, 4]);
        expect(await all(client.send('nothing', {}))).toEqual([]);
        await expect(one(client.send('fail', {}))).rejects.toEqual({ code: 7 });
        const message = 'There is no matching message handler defined in the remote service.';
        await expect(one(client.send('unknown', {}))).rejects.toBe(message);
      });

      it('emits events, to the queue or by an exchange', async () => {
        await one(clientRmq({ queue: 'packets', queueOptions: { arguments: limit } }).emit('order.made', { id: 1 }));
        const byExchange = { queue: 'packets', wildcards: true, exchange: 'dlx.events' };
        await one(clientRmq(byExchange).emit('order.sent', { id: 2 }));
        await expect.poll(() => ours.seen).toContainEqual(['order.made', { id: 1 }]);
        await expect.poll(() => ours.seen).toContainEqual(['order.sent', { id: 2 }]);
      });

      it('sends the properties of a record', async () => {
        const record = new RmqRecordBuilder({ id: 15 }).setOptions({
          headers: { tenant: 'acme' },
          contentType: 'application/json',
        });
        await one(clientRmq({ queue: 'packets', noAssert: true }).emit('order.tenant', record.build()));
        await expect.poll(() => ours.seen).toContainEqual(['order.tenant', { id: 15 }, 'acme']);
      });

      it('parks an event that fails as the packet it was, and a redrive handles it', async () => {
        const { parked } = ours.counts();
        await one(
          clientRmq({ queue: 'packets', queueOptions: { arguments: limit } }).emit('order.lost', { id: 3, bad: true }),
        );
        await expect.poll(() => ours.counts().parked).toBe(parked + 1);
        ours.repair();
        const lost = ({ payload }: { payload: unknown }) => (payload as { pattern?: string }).pattern === 'order.lost';
        const redrive = ours.app.get(Redrives).start({ from: 'packets.parked', where: lost });
        expect(await redrive.ended).toMatchObject({ redriven: 1 });
        const tries = () => ours.seen.filter((each) => JSON.stringify(each).includes('order.lost'));
        await expect.poll(tries).toEqual(Array.from({ length: 3 }, () => ['order.lost', { id: 3, bad: true }]));
      });
    });

    it('ClientRMQ to a queue without the option: the handler gets the packet, and one warning says so', async () => {
      const client = clientRmq({ queue: 'plain' });
      await one(client.emit('plain.a', 1));
      await one(client.emit('plain.a', 2));
      await expect.poll(() => ours.seen).toContainEqual({ pattern: 'plain.a', data: 2 });
      expect(ours.suspicions()).toEqual([
        expect.stringMatching(/^queue 'plain': .* Ours\.plain gets all of it.*envelope: 'nest'/),
      ]);
    });

    describe('DlxClient with envelope nest to ServerRMQ', () => {
      it('sends requests to its queue, and gets values, streams, nothing and errors', async () => {
        const client = ours.client.to({ queue: 'theirs', envelope: 'nest' });
        expect(await one(client.send('sum', [1, 2, 4]))).toBe(7);
        expect(await all(client.send({ of: 'things', cmd: 'count' }, 4))).toEqual([1, 2, 3, 4]);
        expect(await all(client.send('nothing', {}))).toEqual([]);
        await expect(one(client.send('fail', {}))).rejects.toEqual({ code: 7 });
        await expect(one(client.send('unknown', {}))).rejects.toMatch('no matching message handler');
        const nowhere = ours.client.to({ queue: 'nowhere', envelope: 'nest' });
        await expect(one(nowhere.send('sum', [1]))).rejects.toMatchObject({ name: 'UnroutableError' });
        await expect(one(nowhere.emit('order.created', 1))).rejects.toMatchObject({ name: 'UnroutableError' });
      });

      it('emits events to its queue, or to its exchange with wildcards', async () => {
        await one(ours.client.to({ queue: 'theirs', envelope: 'nest' }).emit('order.created', { id: 4 }));
        await expect.poll(() => theirs.seen).toContainEqual({ id: 4 });
        const byExchange = ours.client.to({ exchange: 'wild.events', envelope: 'nest' });
        await one(byExchange.emit('order.sent', { id: 5 }));
        await expect.poll(() => wild.seen).toContainEqual({ id: 5 });
        expect(await one(byExchange.send('sum', [3, 4]))).toBe(7);
      });
    });

    it('a body without a packet to ServerRMQ: the message is refused', async () => {
      const { length } = theirs.seen;
      const refused = async () => (await ours.app.get(DlxBroker).backend.status('refused'))?.messages;
      const before = (await refused())!;
      await one(ours.client.emit('theirs', new DlxRecordBuilder({ id: 6 }).setExchange('').build()));
      await golevelup.connection.publish('', 'theirs', { id: 6 });
      await expect.poll(refused).toBe(before + 2);
      expect(theirs.seen).toHaveLength(length);
    });

    describe('DlxClient to handlers of this library', () => {
      it('packets to a queue with envelope nest, and bodies without a packet', async () => {
        const packets = ours.client.to({ queue: 'packets', envelope: 'nest' });
        expect(await one(packets.send('sum', [1, 2, 4]))).toBe(7);
        expect(await all(packets.send({ of: 'things', cmd: 'count' }, 3))).toEqual([1, 2, 3]);
        await expect(one(packets.send('fail', {}))).rejects.toEqual({ code: 7 });
        expect(await one(ours.client.send('sum', [1, 2]))).toBe(3);
        await one(ours.client.emit('order.own', { id: 7 }));
        await expect.poll(() => ours.seen).toContainEqual(['order.own', { id: 7 }]);
      });

      it('packets to a queue without the option: the handler gets the packet', async () => {
        await one(ours.client.emit('plain.c', { id: 14 }));
        await expect.poll(() => ours.seen).toContainEqual({ id: 14 });
        expect(await one(ours.client.send('plain.count', { of: [1] }))).toEqual({ count: 1 });
        await one(ours.client.to({ queue: 'plain', envelope: 'nest' }).emit('plain.b', { id: 12 }));
        await expect.poll(() => ours.seen).toContainEqual({ pattern: 'plain.b', data: { id: 12 } });
      });
    });

    describe('golevelup', () => {
      it('publishes to handlers, with or without envelope nest', async () => {
        await golevelup.connection.publish('dlx.events', 'plain.golevelup', { id: 8 });
        await golevelup.connection.publish('dlx.events', 'order.golevelup', { id: 9 });
        await expect.poll(() => ours.seen).toContainEqual({ id: 8 });
        await expect.poll(() => ours.seen).toContainEqual(['order.golevelup', { id: 9 }]);
      });

      it('sends requests, and gets one value; an error is a value for it', async () => {
        const ask = (routingKey: string, payload: unknown) =>
          golevelup.connection.request({ exchange: 'dlx.requests', routingKey, payload, timeout: 5_000 });
        expect(await ask('plain.count', { of: [1, 2] })).toEqual({ count: 2 });
        expect(await ask('plain.count', { of: [] })).toEqual({ code: 8 });
        expect(await ask('sum', [5, 6])).toBe(11);
      });

      it('gets events and requests, and the packet if there is one', async () => {
        const shop = ours.client.to({ exchange: golevelupExchange });
        await one(shop.emit('stock.in', { id: 10 }));
        await expect.poll(() => golevelup.seen).toContainEqual({ id: 10 });
        expect(await one(shop.send('count', { of: [1, 2, 3] }))).toEqual({ count: 3 });
        await one(ours.client.to({ exchange: golevelupExchange, envelope: 'nest' }).emit('stock.in', { id: 11 }));
        await expect.poll(() => golevelup.seen).toContainEqual({ pattern: 'stock.in', data: { id: 11 } });
        const theirClient = clientRmq({ queue: 'stock', exchange: golevelupExchange, wildcards: true });
        await one(theirClient.emit('stock.out', { id: 13 }));
        await expect.poll(() => golevelup.seen).toContainEqual({ pattern: 'stock.out', data: { id: 13 } });
      });
    });

    it('both other packages talk to themselves', async () => {
      expect(await one(clientRmq({ queue: 'theirs', noAssert: true }).send('sum', [7, 8]))).toBe(15);
      await golevelup.connection.publish(golevelupExchange, 'stock.own', { id: 16 });
      await expect.poll(() => golevelup.seen).toContainEqual({ id: 16 });
    });
  });
}
