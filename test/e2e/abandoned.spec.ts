import { Controller } from '@nestjs/common';
import { MessagePattern } from '@nestjs/microservices';
import { connect, type Channel } from 'amqplib';
import { DlxBroker, DlxClient, Retry, customBackend, embedded } from 'dlx-broker';
import { EmbeddedBackend } from 'dlx-broker/engine';
import { createBroker } from 'dlx-broker/engine';
import {
  firstValueFrom,
  interval,
  lastValueFrom,
  NEVER,
  Observable,
  of,
  Subscription,
  take,
  timeout,
  toArray,
} from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { microservice } from './apps.js';

const until = (check: () => unknown): Promise<void> =>
  vi.waitFor(async () => void (await check()), { interval: 1, timeout: 3_000 });

/** Streams without an end, of which it is known how many run. */
@Controller()
class Endless {
  running = 0;
  torn = 0;

  @MessagePattern('ticks')
  ticks(): Observable<number> {
    return this.#counted(interval(1));
  }

  @MessagePattern('silent')
  silent(): Observable<never> {
    return this.#counted(NEVER);
  }

  @MessagePattern('late')
  async late(): Promise<Observable<never>> {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return this.#counted(NEVER);
  }

  @MessagePattern('finite')
  finite(): Observable<number> {
    return this.#counted(of(1, 2, 3));
  }

  @MessagePattern('slow')
  @Retry({ attempts: 1, timeout: 5 })
  slow(): Observable<never> {
    return this.#counted(NEVER);
  }

  @MessagePattern('tears')
  tears(): Observable<never> {
    return new Observable(() => () => {
      throw new Error('torn badly');
    });
  }

  #counted<T>(source: Observable<T>): Observable<T> {
    return new Observable((subscriber) => {
      this.running++;
      const subscription = source.subscribe(subscriber);
      subscription.add(() => {
        this.running--;
        this.torn++;
      });
      return subscription;
    });
  }
}

const idle = (app: { get(type: typeof DlxBroker): DlxBroker }, pattern: string): Promise<void> =>
  until(async () =>
    expect(await app.get(DlxBroker).backend.status(`Endless.${pattern}`)).toMatchObject({
      messages: 0,
      unacknowledged: 0,
    }),
  );

describe('a request whose requester is gone is settled, and its stream torn down', () => {
  it.each(['ticks', 'silent', 'late'])('when it was unsubscribed, however many were before: %s', async (pattern) => {
    const app = await microservice({ controllers: [Endless] });
    const [client, endless] = [app.get(DlxClient), app.get(Endless)];
    const asked: Subscription[] = [];
    for (let count = 0; count < 120; count++) asked.push(client.send(pattern, {}).subscribe());
    await until(() => expect(endless.running).toBe(100));
    for (const subscription of asked) subscription.unsubscribe();
    await idle(app, pattern);
    await until(() => expect(endless.running).toBe(0));
    expect(app.get(DlxBroker).counts).toMatchObject({ acked: 120, rejected: 0 });
    if (pattern === 'ticks') expect(await firstValueFrom(client.send('ticks', {}))).toBe(0);
    expect(await lastValueFrom(client.send('finite', {}).pipe(toArray()))).toEqual([1, 2, 3]);
  });

  it('when its first values were enough, or its time was up', async () => {
    const app = await microservice({ controllers: [Endless] });
    const client = app.get(DlxClient);
    expect(await lastValueFrom(client.send('ticks', {}).pipe(take(3), toArray()))).toEqual([0, 1, 2]);
    await expect(lastValueFrom(client.send('silent', {}).pipe(timeout(5)))).rejects.toThrow(/Timeout/);
    await idle(app, 'ticks');
    await idle(app, 'silent');
    expect(app.get(Endless).torn).toBe(2);
  });

  it('and others that ask are left alone', async () => {
    const app = await microservice({ controllers: [Endless] });
    const [client, endless] = [app.get(DlxClient), app.get(Endless)];
    const other = new DlxClient({ backend: new EmbeddedBackend(client.unwrap<EmbeddedBackend>().broker) });
    const stays = other.send('ticks', {}).subscribe();
    const goes = client.send('ticks', {}).subscribe();
    await until(() => expect(endless.running).toBe(2));
    goes.unsubscribe();
    await until(() => expect(endless.running).toBe(1));
    stays.unsubscribe();
    await until(() => expect(endless.running).toBe(0));
    other.close();
  });

  it('when the client is closed', async () => {
    const app = await microservice({ controllers: [Endless] });
    const other = new DlxClient({ backend: new EmbeddedBackend(app.get(DlxClient).unwrap<EmbeddedBackend>().broker) });
    const failed = expect(lastValueFrom(other.send('silent', {}))).rejects.toThrow(/client (is|was) closed/);
    await until(() => expect(app.get(Endless).running).toBe(1));
    other.close();
    await failed;
    await idle(app, 'silent');
    expect(app.get(Endless).running).toBe(0);
  });

  it('when the client of its target is closed; other targets of the client go on', async () => {
    const app = await microservice({ controllers: [Endless] });
    const [client, endless] = [app.get(DlxClient), app.get(Endless)];
    const target = client.to({ exchange: 'dlx.requests' });
    const stays = client.send('ticks', {}).subscribe();
    const failed = expect(lastValueFrom(target.send('silent', {}))).rejects.toThrow('client was closed');
    await until(() => expect(endless.running).toBe(2));
    target.close();
    await failed;
    await until(() => expect(endless.running).toBe(1));
    stays.unsubscribe();
    await until(() => expect(endless.running).toBe(0));
  });

  it('when its attempt took too long', async () => {
    const app = await microservice({ controllers: [Endless] });
    await expect(lastValueFrom(app.get(DlxClient).send('slow', {}))).rejects.toBeDefined();
    expect(app.get(Endless)).toMatchObject({ running: 0, torn: 1 });
  });

  it('as a failure when tearing it down fails', async () => {
    const app = await microservice({ controllers: [Endless] });
    const subscription = app.get(DlxClient).send('tears', {}).subscribe();
    await until(async () =>
      expect(await app.get(DlxBroker).backend.status('Endless.tears')).toMatchObject({ unacknowledged: 1 }),
    );
    await new Promise((resolve) => setTimeout(resolve, 2));
    subscription.unsubscribe();
    await idle(app, 'tears');
    expect(app.get(DlxBroker).counts).toMatchObject({ acked: 0, rejected: 1 });
  });
});

describe('over AMQP, when', () => {
  const options = { broker: embedded({ listen: { amqp: { port: 0 } } }) };
  const open = async () => {
    const app = await microservice({ controllers: [Endless], options });
    const { host, port } = app.get(DlxBroker).amqp!;
    const connection = await connect(`amqp://guest:guest@${host}:${port}`);
    return { app, endless: app.get(Endless), connection, channel: await connection.createChannel() };
  };
  const ask = (channel: Channel, pattern: string, replyTo: string): void =>
    void channel.publish('dlx.requests', pattern, Buffer.from('{}'), { replyTo, correlationId: 'c' });
  const direct = 'amq.rabbitmq.reply-to';

  it.each(['ticks', 'silent'])('the consumer of direct replies is cancelled (rule S2): %s', async (pattern) => {
    const { app, endless, connection, channel } = await open();
    const { consumerTag } = await channel.consume(direct, () => undefined, { noAck: true });
    for (let count = 0; count < 120; count++) ask(channel, pattern, direct);
    await until(() => expect(endless.running).toBe(100));
    await channel.cancel(consumerTag);
    await idle(app, pattern);
    expect(endless.running).toBe(0);
    await connection.close();
  });

  it('its channel or connection is closed', async () => {
    const { app, endless, connection, channel } = await open();
    await channel.consume(direct, () => undefined, { noAck: true });
    ask(channel, 'silent', direct);
    await until(() => expect(endless.running).toBe(1));
    await channel.close();
    await until(() => expect(endless.running).toBe(0));
    const second = await connection.createChannel();
    const { queue } = await second.assertQueue('', { exclusive: true });
    ask(second, 'silent', queue);
    await until(() => expect(endless.running).toBe(1));
    await connection.close();
    await until(() => expect(endless.running).toBe(0));
    await idle(app, 'silent');
  });

  it.each(['ticks', 'silent'])('its reply queue is deleted: %s', async (pattern) => {
    const { app, endless, connection, channel } = await open();
    await channel.assertQueue('answers');
    ask(channel, pattern, 'answers');
    await until(() => expect(endless.running).toBe(1));
    await channel.deleteQueue('answers');
    await until(() => expect(endless.running).toBe(0));
    await idle(app, pattern);
    expect(app.get(DlxBroker).counts).toMatchObject({ acked: 1, rejected: 0 });
    await connection.close();
  });

  it('its reply queue never was: the last reply is dropped, and the request acknowledged', async () => {
    const { app, connection, channel } = await open();
    ask(channel, 'finite', 'nowhere');
    await until(() => expect(app.get(DlxBroker).counts.acked).toBe(1));
    await idle(app, 'finite');
    await connection.close();
  });
});

it('a backend that cannot tell learns of it by a reply that is returned', async () => {
  const broker = createBroker();
  class Plain extends EmbeddedBackend {
    override readonly onRequesterGone = undefined as never;
  }
  const app = await microservice({ controllers: [Endless], options: { broker: customBackend(new Plain(broker)) } });
  const backend = new EmbeddedBackend(broker);
  await backend.declare({
    exchanges: [],
    queues: [{ name: 'answers', durable: true, exclusive: false, autoDelete: false, arguments: new Map() } as never],
    bindings: [],
  });
  const properties = { replyTo: 'answers', correlationId: 'c' };
  backend.publish({ exchange: 'dlx.requests', routingKey: 'ticks', properties, body: Buffer.from('{}') });
  await until(() => expect(app.get(Endless).running).toBe(1));
  broker
    .connect()
    .openChannel({} as never)
    .deleteQueue('answers');
  await until(() => expect(app.get(Endless).running).toBe(0));
  await idle(app, 'ticks');
  broker.close();
});
