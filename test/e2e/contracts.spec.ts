import { Controller, Injectable, type Type } from '@nestjs/common';
import { Ctx, EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import {
  Answer,
  Consume,
  ContractError,
  DeadLetter,
  DlxBroker,
  DlxBrokerModule,
  DlxClient,
  DlxContext,
  DlxRecordBuilder,
  event,
  On,
  Queue,
  request,
  Retry,
} from 'dlx-broker';
import { firstValueFrom, from, lastValueFrom, type Observable, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type Order, orders, prices, type WireOrder } from '../harnesses/schemas.js';
import { contextApp, microservice, Morgue } from './apps.js';
import { here, isEmbedded, missing, until } from './places.js';

const orderCreated = event('order.created', { schema: orders });
const orderPrice = request('order.price', { schema: orders, answer: prices });
const order: WireOrder = { id: 'a', at: '2026-01-02T03:04:05.000Z' };
const wrong = { id: 5 } as unknown as WireOrder;
const refusal = "the payload of 'order.created' breaks its contract: id: is no text; at: is no date";

/** What the handlers of a test got. */
const seen: unknown[] = [];
const got = (...some: readonly unknown[]): Promise<void> => until(() => expect(seen).toEqual(some));

/** Gets events of the contract as they are on the wire. */
@Injectable()
class Wire {
  @Consume({ queue: 'wire', routingKey: 'order.created' })
  take(@Payload() data: unknown): void {
    seen.push(['wire', data]);
  }
}

/** Starts an application, and forgets what handlers of others got. */
async function start(providers: readonly Type[]) {
  seen.splice(0);
  const app = await contextApp({ providers });
  return { app, client: app.get(DlxClient), broker: app.get(DlxBroker) };
}

describe.skipIf(missing !== undefined)('an event by its contract', () => {
  @Injectable()
  class Billing {
    @On(orderCreated)
    @Queue('billing')
    @Retry({ attempts: 5, backoff: 1, neverRetry: RangeError })
    bill(@Payload() { id, at }: Order, @Ctx() context: DlxContext): void {
      seen.push(['billing', id, at.getTime(), context.queue]);
    }
  }

  @Injectable()
  class ParkingLot {
    readonly headers: DlxContext['headers'][] = [];

    @Consume('billing.parked')
    take(@Ctx() { headers }: DlxContext): void {
      this.headers.push(headers);
    }
  }

  it('reaches @On in a provider as its schema made it', async () => {
    const { client } = await start([Billing]);
    await firstValueFrom(client.emit(orderCreated, order));
    await got(['billing', 'a', Date.parse(order.at), 'billing']);
  });

  it('is on the wire as it was given', async () => {
    const { client } = await start([Wire]);
    await firstValueFrom(client.emit(orderCreated, order));
    await firstValueFrom(client.emit(orderCreated, new DlxRecordBuilder(order).setPriority(3).build()));
    await got(['wire', order], ['wire', order]);
  });

  it('is not published when its schema refuses it', async () => {
    const { client } = await start([Wire]);
    const failure = await firstValueFrom(client.emit(orderCreated, wrong)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ContractError);
    expect(failure).toMatchObject({
      message: refusal,
      pattern: 'order.created',
      issues: [
        { path: 'id', message: 'is no text' },
        { path: 'at', message: 'is no date' },
      ],
    });
    const record = new DlxRecordBuilder(wrong).build();
    await expect(firstValueFrom(client.emit(orderCreated, record))).rejects.toThrow(refusal);
    await firstValueFrom(client.emit(orderCreated, order));
    await got(['wire', order]);
  });

  it('of another publisher that breaks the contract is parked at once, whatever the policy says', async () => {
    const { app, client, broker } = await start([Billing, ParkingLot]);
    await firstValueFrom(client.emit('order.created', wrong));
    await until(() => expect(broker.counts).toMatchObject({ parked: 1, retried: 0 }));
    expect(seen).toEqual([]);
    const { headers } = app.get(ParkingLot);
    await until(() => expect(headers).toHaveLength(1));
    expect(headers[0]).toMatchObject({ 'dlx-error-class': 'ContractError', 'dlx-error-message': refusal });
  });

  it('that breaks the contract is dead-lettered without a policy', async () => {
    @Injectable()
    class Mailing {
      @On(orderCreated)
      @DeadLetter('dlx', 'mail')
      mail(some: Order): void {
        seen.push(some);
      }
    }
    const { app, client } = await start([Mailing, Morgue]);
    await firstValueFrom(client.emit('order.created', wrong));
    await until(() => expect(app.get(Morgue).bodies.map(({ data }) => data)).toEqual([wrong]));
    expect(seen).toEqual([]);
  });

  it('is handled in several modules, each by its queue', async () => {
    @Injectable()
    class Stock {
      @On(orderCreated)
      @Consume({ queue: 'stock' })
      take({ id }: Order): void {
        seen.push(['stock', id]);
      }
    }
    class StockModule {}
    class BillingModule {}
    seen.splice(0);
    const app = await contextApp({
      imports: [
        DlxBrokerModule.forRoot(here()),
        { module: StockModule, providers: [Stock] },
        { module: BillingModule, providers: [Billing] },
      ],
    });
    await firstValueFrom(app.get(DlxClient).emit(orderCreated, order));
    await until(() => expect(seen).toHaveLength(2));
    expect(seen).toEqual(expect.arrayContaining([['stock', 'a'], expect.arrayContaining(['billing', 'a'])]));
  });

  it('selects among handlers that share a queue', async () => {
    const orderPaid = event<string>('order.paid');
    @Injectable()
    class Shared {
      @On(orderCreated)
      @Queue('shared')
      created({ at }: Order): void {
        seen.push(at.getFullYear());
      }

      @On(orderPaid)
      @Queue('shared')
      paid(id: string): void {
        seen.push(id);
      }
    }
    const { client } = await start([Shared]);
    await firstValueFrom(client.emit(orderPaid, 'a'));
    await got('a');
    await firstValueFrom(client.emit(orderCreated, order));
    await got('a', 2026);
  });

  it('in packets of Nest has its payload checked', async () => {
    @Injectable()
    class Packets {
      @On(orderCreated)
      @Consume({ queue: 'packets', envelope: 'nest' })
      take({ at }: Order): void {
        seen.push(at.getFullYear());
      }
    }
    const { client } = await start([Packets]);
    const packets = client.to({ queue: 'packets', envelope: 'nest' });
    await expect(firstValueFrom(packets.emit(orderCreated, wrong))).rejects.toThrow(refusal);
    await firstValueFrom(packets.emit(orderCreated, order));
    await got(2026);
  });
});

describe.skipIf(missing !== undefined)('a request by its contract', () => {
  async function* generated(): AsyncGenerator<number> {
    yield* [5, 6];
  }
  const answers = new Map<string, () => unknown>([
    ['one', () => 3],
    ['later', async () => 4],
    ['stream', () => from([5, 6])],
    ['generator', () => generated()],
    ['bad', () => -1],
    ['bad stream', () => from([7, -1])],
  ]);

  @Injectable()
  class Prices {
    @Answer(orderPrice)
    price({ id, at }: Order): number | Observable<number> | AsyncGenerator<number> {
      seen.push(at.getFullYear());
      return answers.get(id)!() as number;
    }
  }

  const all = <T>(asked: Observable<T>): Promise<T[]> => lastValueFrom(asked.pipe(toArray()));

  it.each([
    ['one', [3]],
    ['later', [4]],
    ['stream', [5, 6]],
    ['generator', [5, 6]],
  ])('is answered by @Answer in a provider: %s', async (id, expected) => {
    const { client } = await start([Prices]);
    expect(await all(client.send(orderPrice, { ...order, id }))).toEqual(expected);
    expect(seen).toEqual([2026]);
  });

  it('is not sent when its schema refuses it', async () => {
    const { client } = await start([Prices]);
    await expect(all(client.send(orderPrice, wrong))).rejects.toThrow(
      "the payload of 'order.price' breaks its contract: id: is no text; at: is no date",
    );
  });

  it('of another client that breaks the contract is answered by the issues', async () => {
    const { client } = await start([Prices]);
    const text = "the payload of 'order.price' breaks its contract: id: is no text; at: is no date";
    await expect(all(client.send('order.price', wrong))).rejects.toEqual({ status: 'error', message: text });
    expect(seen).toEqual([]);
  });

  it.each(['bad', 'bad stream'])('whose answer breaks the contract fails: %s', async (id) => {
    const { client } = await start([Prices]);
    const message = "the answer to 'order.price' breaks its contract: is no price";
    await expect(all(client.send(orderPrice, { ...order, id }))).rejects.toMatchObject({ message });
  });

  it('refuses the answer of a handler that has no contract', async () => {
    @Controller()
    class Loose {
      @MessagePattern<string>('order.price')
      price(): string {
        return 'free';
      }
    }
    seen.splice(0);
    const app = await microservice({ controllers: [Loose] });
    const asked = all(app.get(DlxClient).send(orderPrice, order));
    await expect(asked).rejects.toThrow("the answer to 'order.price' breaks its contract: is no price");
  });
});

describe.skipIf(missing !== undefined)("Nest's transport", () => {
  @Controller()
  class Shop {
    @EventPattern<string>(orderCreated.pattern)
    @On(orderCreated)
    @Queue('shop')
    @Retry({ attempts: 3, backoff: 1 })
    created(@Payload() { at }: Order, @Ctx() { queue }: DlxContext): void {
      seen.push([queue, at.getFullYear()]);
    }

    @MessagePattern<string>(orderPrice.pattern)
    @Answer(orderPrice)
    price({ id }: Order): number {
      return id === 'bad' ? -1 : 8;
    }
  }

  it('gives a controller what the schema made, and checks its answers', async () => {
    seen.splice(0);
    const app = await microservice({ controllers: [Shop] });
    const client = app.get(DlxClient);
    await firstValueFrom(client.emit('order.created', wrong));
    await until(() => expect(app.get(DlxBroker).counts).toMatchObject({ parked: 1, retried: 0 }));
    await firstValueFrom(client.emit(orderCreated, order));
    await got(['shop', 2026]);
    expect(await firstValueFrom(client.send(orderPrice, order))).toBe(8);
    const message = "the answer to 'order.price' breaks its contract: is no price";
    await expect(firstValueFrom(client.send(orderPrice, { ...order, id: 'bad' }))).rejects.toMatchObject({ message });
  });

  it('is not started when the pattern beside a contract is another one', async () => {
    @Controller()
    class Other {
      @EventPattern('order.*')
      @On(orderCreated)
      created(some: Order): void {
        seen.push(some);
      }
    }
    await expect(microservice({ controllers: [Other] })).rejects.toThrow(
      "@On on Other.created is for 'order.created', and beside it stands @EventPattern('order.*'); write @EventPattern(contract.pattern)",
    );
  });
});

describe.skipIf(!isEmbedded)('bad use is refused', () => {
  // Of several types, which the compiler refuses above one method.
  const cases: readonly [string, readonly unknown[], string][] = [
    [
      'a second routing key',
      [On(orderCreated), Consume({ routingKey: 'order.#' })],
      "@On on Worker.work has the routing key 'order.created'; leave routingKey of @Consume out",
    ],
    ['two contracts', [On(orderCreated), On(event('b'))], '@On on Worker.work: it is there 2 times; write it once'],
    ['an event and a request', [On(orderCreated), Answer(orderPrice as never)], 'Worker.work: @On and @Answer'],
    ['no contract', [On('order.created' as never)], "contract of @On on Worker.work: 'order.created' is no contract"],
    ['a request for @On', [On(orderPrice as never)], 'contract of @On on Worker.work'],
  ];

  it.each(cases)('%s', async (_, above, text) => {
    class Worker {
      work(_data: unknown): unknown {
        return undefined;
      }
    }
    const descriptor = Object.getOwnPropertyDescriptor(Worker.prototype, 'work')!;
    for (const decorate of above as readonly MethodDecorator[]) decorate(Worker.prototype, 'work', descriptor);
    Injectable()(Worker);
    await expect(contextApp({ providers: [Worker] })).rejects.toThrow(text);
  });

  it('an event that is sent, and a request that is emitted', async () => {
    const { client } = await start([]);
    await expect(firstValueFrom(client.send(orderCreated as never, order))).rejects.toThrow('use emit');
    await expect(firstValueFrom(client.emit(orderPrice as never, order))).rejects.toThrow('use send');
  });

  it('of a contract without schema only by the compiler', async () => {
    const plain = event<string>('plain');
    @Injectable()
    class Plain {
      @On(plain)
      take(text: string): void {
        seen.push(text);
      }
    }
    const { client } = await start([Plain]);
    await firstValueFrom(client.emit(plain, 5 as never));
    await got(5);
  });
});
