import { BadRequestException, Catch, Controller, Injectable, UseFilters, type ExceptionFilter } from '@nestjs/common';
import { Ctx, EventPattern, MessagePattern, Payload, RpcException } from '@nestjs/microservices';
import { Consume, DlxBroker, DlxClient, DlxContext, DlxRecordBuilder, InjectDlx, Queue } from 'dlx-broker';
import {
  concat,
  delay,
  EMPTY,
  firstValueFrom,
  interval,
  lastValueFrom,
  NEVER,
  of,
  take,
  throwError,
  timeout,
  toArray,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import { contextApp, microservice } from './apps.js';
import { until } from './places.js';

@Controller()
class Orders {
  readonly seen: unknown[] = [];

  constructor(@InjectDlx(DlxClient) readonly client: DlxClient) {}

  @EventPattern<string>('order.*')
  any(@Payload() order: unknown, @Ctx() context: DlxContext): void {
    this.seen.push(['order.*', context.getPattern(), order]);
  }

  @EventPattern<string>('order.created')
  created(order: unknown): void {
    this.seen.push(['order.created', order]);
  }

  @EventPattern(['stock.#', '#.low'])
  stock(@Payload('id') id: unknown): void {
    this.seen.push(['stock', id]);
  }

  @EventPattern<string>('order.created')
  @Queue('mailing')
  mail(): void {
    this.seen.push(['mail']);
  }

  @EventPattern({ cmd: 'audit', level: 1 })
  audit(data: unknown): void {
    this.seen.push(['audit', data]);
  }
}

const settled = (app: { get(type: typeof DlxBroker): DlxBroker }, count: number): Promise<void> =>
  until(() => expect(app.get(DlxBroker).counts.acked).toBe(count));

describe('an event reaches', () => {
  it('every handler whose pattern fits, each by a queue of its own', async () => {
    const app = await microservice({ controllers: [Orders] });
    const { seen, client } = app.get(Orders);
    await firstValueFrom(client.emit('order.created', { id: 1 }));
    await settled(app, 3);
    expect(seen).toHaveLength(3);
    expect(seen).toEqual(
      expect.arrayContaining([['order.*', 'order.created', { id: 1 }], ['order.created', { id: 1 }], ['mail']]),
    );
    for (const queue of ['Orders.any', 'Orders.created', 'mailing']) {
      expect(await app.get(DlxBroker).backend.status(queue)).toMatchObject({ consumers: 1, messages: 0 });
    }
  });

  it('one handler once, however many of its patterns fit (rule G4)', async () => {
    const app = await microservice({ controllers: [Orders] });
    await firstValueFrom(app.get(DlxClient).emit('stock.eu.low', { id: 7 }));
    await settled(app, 1);
    expect(app.get(Orders).seen).toEqual([['stock', 7]]);
  });

  it('the handler of an object pattern, whatever the order of its keys', async () => {
    const app = await microservice({ controllers: [Orders] });
    await firstValueFrom(app.get(DlxClient).emit({ level: 1, cmd: 'audit' }, 'x'));
    await settled(app, 1);
    expect(app.get(Orders).seen).toEqual([['audit', 'x']]);
  });

  it('no queue, unless it is mandatory: then emit fails', async () => {
    const app = await microservice({ controllers: [Orders] });
    const client = app.get(DlxClient);
    await expect(firstValueFrom(client.emit('nobody', 1))).resolves.toBeUndefined();
    const record = new DlxRecordBuilder(1).setMandatory(true).build();
    await expect(firstValueFrom(client.emit('nobody', record))).rejects.toThrow(/NO_ROUTE/);
  });

  it("no missing exchange: emit fails with RabbitMQ's text", async () => {
    const app = await microservice({ controllers: [Orders] });
    const record = new DlxRecordBuilder(1).setExchange('missing').build();
    await expect(firstValueFrom(app.get(DlxClient).emit('x', record))).rejects.toThrow(
      /NOT_FOUND - no exchange 'missing' in vhost '[^']+'$/,
    );
  });
});

@Catch()
class PassOn implements ExceptionFilter {
  catch(error: unknown): unknown {
    return throwError(() => error);
  }
}

@Controller()
class Sums {
  calls = 0;

  @MessagePattern('sum')
  sum(numbers: number[]): number {
    this.calls++;
    return numbers.reduce((a, b) => a + b, 0);
  }

  @MessagePattern('count')
  count(to: number): unknown {
    return interval(1).pipe(take(to));
  }

  @MessagePattern('at.once')
  atOnce(): unknown {
    return of('a', 'b', 'c');
  }

  @MessagePattern('empty')
  empty(): unknown {
    return EMPTY;
  }

  @MessagePattern('nothing')
  nothing(): void {}

  @MessagePattern('null')
  none(): null {
    return null;
  }

  @MessagePattern('bytes')
  bytes(data: Buffer): Buffer {
    return Buffer.from(data).reverse();
  }

  @MessagePattern('fails')
  fails(): never {
    throw new RpcException({ code: 42, message: 'no' });
  }

  @MessagePattern('fails.in.words')
  failsInWords(): never {
    throw new RpcException('no');
  }

  @MessagePattern('fails.plainly')
  failsPlainly(): never {
    throw new Error('internal');
  }

  @MessagePattern('fails.as.http')
  failsAsHttp(): never {
    throw new BadRequestException('internal');
  }

  @MessagePattern('passed.on')
  @UseFilters(PassOn)
  passedOn(): never {
    throw new Error('for the caller');
  }

  @MessagePattern('passed.on.as.http')
  @UseFilters(PassOn)
  passedOnAsHttp(): never {
    throw new BadRequestException('for the caller');
  }

  @MessagePattern('fails.late')
  failsLate(): unknown {
    return concat(
      of(1),
      of(2).pipe(delay(1)),
      throwError(() => new Error('internal')),
    );
  }

  @MessagePattern('never')
  never(): unknown {
    return NEVER;
  }

  @MessagePattern('meta')
  meta(@Ctx() context: DlxContext): unknown {
    return context.getMetadata();
  }
}

describe('a request is answered', () => {
  const client = async (): Promise<DlxClient> => (await microservice({ controllers: [Sums] })).get(DlxClient);

  it('by its one handler', async () => {
    expect(await lastValueFrom((await client()).send('sum', [1, 2, 3]))).toBe(6);
  });

  it('many at a time, each its own', async () => {
    const sums = await client();
    const asked = Array.from({ length: 200 }, (_, n) => lastValueFrom(sums.send('sum', [n, 1])));
    expect(await Promise.all(asked)).toEqual(Array.from({ length: 200 }, (_, n) => n + 1));
  });

  it('by a stream, value by value', async () => {
    const sums = await client();
    expect(await lastValueFrom(sums.send('count', 4).pipe(toArray()))).toEqual([0, 1, 2, 3]);
    expect(await lastValueFrom(sums.send('at.once', {}).pipe(toArray()))).toEqual(['a', 'b', 'c']);
  });

  it('by nothing, by null, by bytes', async () => {
    const sums = await client();
    expect(await lastValueFrom(sums.send('empty', {}).pipe(toArray()))).toEqual([]);
    expect(await lastValueFrom(sums.send('nothing', {}).pipe(toArray()))).toEqual([]);
    expect(await lastValueFrom(sums.send('null', {}).pipe(toArray()))).toEqual([null]);
    expect(await lastValueFrom(sums.send('bytes', Buffer.from([1, 2])))).toEqual(Buffer.from([2, 1]));
  });

  it('by an error, as the filters let it through', async () => {
    const sums = await client();
    await expect(lastValueFrom(sums.send('fails', {}))).rejects.toEqual({ code: 42, message: 'no' });
    const unknown = { status: 'error', message: 'Internal server error' };
    for (const [pattern, answer] of [
      ['fails.in.words', { status: 'error', message: 'no' }],
      ['fails.plainly', unknown],
      ['fails.as.http', unknown],
      ['passed.on', { status: 'error', message: 'for the caller' }],
      ['passed.on.as.http', { statusCode: 400, error: 'Bad Request', message: 'for the caller' }],
    ] as const) {
      await expect(lastValueFrom(sums.send(pattern, {}))).rejects.toEqual(answer);
    }
    const seen: unknown[] = [];
    const late = sums.send('fails.late', {});
    await expect(
      new Promise((resolve, reject) =>
        late.subscribe({ next: (n) => seen.push(n), error: reject, complete: () => resolve(0) }),
      ),
    ).rejects.toEqual({ status: 'error', message: 'Internal server error' });
    expect(seen).toEqual([1, 2]);
  });

  it('at once with an error when no handler has the pattern', async () => {
    await expect(lastValueFrom((await client()).send('unknown', {}))).rejects.toThrow(
      /^NO_ROUTE - exchange 'dlx.requests' has no queue .* 'unknown': no handler has @Answer or @MessagePattern\('unknown'\)$/,
    );
  });

  it('or given up by a timeout', async () => {
    const app = await microservice({ controllers: [Sums], options: { drainTimeout: 1 } });
    await expect(lastValueFrom(app.get(DlxClient).send('never', {}).pipe(timeout(20)))).rejects.toThrow(/Timeout/);
  });

  it('only when the caller subscribes', async () => {
    const app = await microservice({ controllers: [Sums] });
    app.get(DlxClient).send('sum', [1]);
    await lastValueFrom(app.get(DlxClient).send('sum', [1]));
    expect(app.get(Sums).calls).toBe(1);
  });

  it('and settled after its last reply was published', async () => {
    const app = await microservice({ controllers: [Sums] });
    await lastValueFrom(app.get(DlxClient).send('sum', [1]));
    await settled(app, 1);
    await expect(lastValueFrom(app.get(DlxClient).send('fails', {}))).rejects.toBeDefined();
    await until(() => expect(app.get(DlxBroker).counts).toMatchObject({ acked: 1, rejected: 1 }));
  });

  it('with the metadata of a dispatch hook', async () => {
    const sums = await client();
    sums.setOnDispatchHook((packet) => (packet.metadata = { trace: 'abc' }));
    expect(await lastValueFrom(sums.send('meta', {}))).toEqual({ trace: 'abc' });
  });
});

@Injectable()
class Inbox {
  readonly contexts: DlxContext[] = [];

  @Consume({ routingKey: 'letter' })
  take(@Ctx() context: DlxContext): void {
    this.contexts.push(context);
  }
}

it('a record carries headers and properties, and is persistent by default', async () => {
  const app = await contextApp({ providers: [Inbox] });
  const record = new DlxRecordBuilder({ id: 1 })
    .setHeaders({ tenant: 'x', deep: { list: [1, 'two'] }, __proto__: null })
    .setPriority(5)
    .setExpiration('1m')
    .setMessageId('m-1')
    .setCorrelationId('c-1')
    .setType('order')
    .setOptions({ appId: 'shop', timestamp: new Date(1_700_000_000_000) })
    .build();
  await firstValueFrom(app.get(DlxClient).emit('letter', record));
  await firstValueFrom(app.get(DlxClient).emit('letter', new DlxRecordBuilder(1).setPersistent(false).build()));
  await settled(app, 2);
  const [first, second] = app.get(Inbox).contexts;
  expect(first!.properties).toMatchObject({
    deliveryMode: 2,
    priority: 5,
    expiration: '60000',
    messageId: 'm-1',
    correlationId: 'c-1',
    type: 'order',
    appId: 'shop',
    timestamp: 1_700_000_000,
    contentType: 'application/json',
  });
  expect(Buffer.from(first!.message.body).toString()).toBe('{"id":1}');
  expect(first!.message.exchange).toBe('dlx.events');
  expect(first!.headers['tenant']).toBe('x');
  expect(first!.headers['deep']).toMatchObject({ list: [1, 'two'] });
  expect(Object.getPrototypeOf(first!.headers)).toBeNull();
  expect(first!.attempt).toBe(1);
  expect(first!.deaths).toEqual([]);
  expect(second!.properties.deliveryMode).toBe(1);
});

it('CC reaches further queues (rule G2)', async () => {
  const app = await microservice({ controllers: [Orders] });
  await firstValueFrom(
    app.get(DlxClient).emit('nobody', new DlxRecordBuilder(1).setCc('stock.x').setBcc('order.y').build()),
  );
  await settled(app, 2);
  expect(
    app
      .get(Orders)
      .seen.map((entry) => (entry as unknown[])[0])
      .toSorted(),
  ).toEqual(['order.*', 'stock']);
});
