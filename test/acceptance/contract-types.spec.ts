import { Ctx, Payload } from '@nestjs/microservices';
import type { ClientProxy } from '@nestjs/microservices';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import {
  Answer,
  Consume,
  type DlxClient,
  type DlxContext,
  DlxRecordBuilder,
  event,
  type EventContract,
  On,
  Queue,
  request,
  type RequestContract,
  Retry,
  type StandardSchema,
} from 'dlx-broker';
import type { Observable } from 'rxjs';
import { describe, expectTypeOf, it } from 'vitest';

interface Order {
  readonly id: string;
  readonly lines: number;
}

interface PaidOrder extends Order {
  readonly paid: true;
}

interface Price {
  readonly cents: number;
}

// What is wrong here fails the type check, which runs over the tests as well. Nothing of the functions below is run.

const orderCreated = event<Order>('order.created');
const orderPrice = request<Order, Price>('order.price');

/** A schema that makes a date of a text, as a library would type it. */
declare const parcel: StandardSchemaV1<{ at: string }, { at: Date }>;
const parcelSent = (schema = parcel) => event('parcel.sent', { schema });
declare const order: StandardSchemaV1<Order>;

describe('a contract', () => {
  it('has the type that is written, or that of its schema', () => {
    expectTypeOf(orderCreated).toEqualTypeOf<EventContract<Order, Order>>();
    expectTypeOf(orderPrice).toEqualTypeOf<RequestContract<Order, Price, Order, Price>>();
    expectTypeOf(parcelSent).returns.toEqualTypeOf<EventContract<{ at: Date }, { at: string }>>();
    const both = () => request('parcel.price', { schema: parcel, answer: parcel });
    expectTypeOf(both).returns.toEqualTypeOf<
      RequestContract<{ at: Date }, { at: Date }, { at: string }, { at: string }>
    >();
    expectTypeOf(orderCreated.read('')).toEqualTypeOf<Promise<Order>>();
  });

  it('takes the schemas of libraries, and no schema of another type', () => {
    expectTypeOf<StandardSchemaV1<Order>>().toExtend<StandardSchema<Order>>();
    expectTypeOf<StandardSchema<Order>>().toExtend<StandardSchemaV1<Order>>();
    const made = () => [
      event<Order>('order.created', { schema: order }),
      // @ts-expect-error -- this schema is for something else
      event<Order>('order.created', { schema: parcel }),
      // @ts-expect-error -- an event has no answer
      event<Order>('order.created', { answer: order }),
      // @ts-expect-error -- a text
      event<Order>({ cmd: 'created' }),
    ];
    expectTypeOf(made).toBeFunction();
  });
});

describe('a client', () => {
  it('takes the payload of the contract, and no other', () => {
    const calls = (client: DlxClient, some: Order, paid: PaidOrder) => {
      expectTypeOf(client.emit(orderCreated, some)).toEqualTypeOf<Observable<undefined>>();
      client.emit(orderCreated, paid, { delay: '1m' });
      client.emit(orderCreated, new DlxRecordBuilder(some).setPriority(1).build());
      client.emit(parcelSent(), { at: '2026-01-01' });
      expectTypeOf(client.send(orderPrice, some)).toEqualTypeOf<Observable<Price>>();
      // @ts-expect-error -- a field is missing
      client.emit(orderCreated, { id: 'a' });
      // @ts-expect-error -- nothing is there
      client.emit(orderCreated, {});
      // @ts-expect-error -- another type
      client.emit(orderCreated, 'a');
      // @ts-expect-error -- of another type inside of a record
      client.emit(orderCreated, new DlxRecordBuilder('a').build());
      // @ts-expect-error -- what the schema makes, and not what it takes
      client.emit(parcelSent(), { at: new Date() });
      // @ts-expect-error -- a request
      client.emit(orderPrice, some);
      // @ts-expect-error -- an event
      client.send(orderCreated, some);
      // @ts-expect-error -- a field is missing
      client.send(orderPrice, { id: 'a' });
    };
    expectTypeOf(calls).toBeFunction();
  });

  it('takes patterns as before', () => {
    const calls = (client: DlxClient, unknown: unknown, text: string) => {
      expectTypeOf(client.emit('order.created', { id: 1 })).toEqualTypeOf<Observable<unknown>>();
      expectTypeOf(client.emit<void, Order>('order.created', { id: 'a', lines: 1 })).toEqualTypeOf<Observable<void>>();
      client.emit(unknown, 1);
      client.emit({ cmd: text }, 1, { delay: 5 });
      expectTypeOf(client.send<Price>('order.price', 1)).toEqualTypeOf<Observable<Price>>();
      client.send<Price, Order>({ cmd: 'price' }, { id: 'a', lines: 1 });
      const proxy: ClientProxy = client;
      proxy.emit(orderCreated, { id: 'a', lines: 1 });
      proxy.send<Price>('order.price', 1);
    };
    expectTypeOf(calls).toBeFunction();
  });
});

describe('a handler', () => {
  it('takes the payload, or something wider, first', () => {
    const above = () => {
      class Fits {
        @On(orderCreated)
        none(): void {}

        @On(orderCreated)
        @Queue('orders')
        @Retry({ attempts: 3 })
        one(@Payload() { id }: Order): string {
          return id;
        }

        @Consume('orders')
        @On(orderCreated)
        async two(@Payload() order: Order, @Ctx() context: DlxContext): Promise<string> {
          return order.id + context.queue;
        }

        @On(orderCreated)
        wider(order: { readonly id: string }): string {
          return order.id;
        }

        @On(orderCreated)
        unknown(order: unknown): unknown {
          return order;
        }

        @On(parcelSent())
        made({ at }: { at: Date }): number {
          return at.getTime();
        }

        @Answer(orderPrice)
        price(order: Order): Price {
          return { cents: order.lines };
        }

        @Answer(orderPrice)
        async later(order: Order): Promise<Price> {
          return { cents: order.lines };
        }

        @Answer(orderPrice)
        stream(_: Order, given: Observable<Price>): Observable<Price> {
          return given;
        }
      }
      return Fits;
    };
    expectTypeOf(above).toBeFunction();
  });

  it('does not compile otherwise', () => {
    const above = () => {
      class Wrong {
        // @ts-expect-error -- another type
        @On(orderCreated)
        text(order: string): string {
          return order;
        }

        // @ts-expect-error -- not every order is paid
        @On(orderCreated)
        narrower(order: PaidOrder): boolean {
          return order.paid;
        }

        // @ts-expect-error -- the payload comes first
        @On(orderCreated)
        second(@Ctx() context: DlxContext, @Payload() order: Order): string {
          return order.id + context.queue;
        }

        // @ts-expect-error -- a handler gets what the schema makes
        @On(parcelSent())
        taken({ at }: { at: string }): string {
          return at;
        }

        // @ts-expect-error -- a contract, and not its pattern
        @On('order.created')
        pattern(order: Order): string {
          return order.id;
        }

        // @ts-expect-error -- a request
        @On(orderPrice)
        request(order: Order): string {
          return order.id;
        }

        // @ts-expect-error -- another answer
        @Answer(orderPrice)
        answer(order: Order): string {
          return order.id;
        }

        // @ts-expect-error -- no answer
        @Answer(orderPrice)
        none(): void {}

        // @ts-expect-error -- an event
        @Answer(orderCreated)
        event(order: Order): Price {
          return { cents: order.lines };
        }
      }
      return Wrong;
    };
    expectTypeOf(above).toBeFunction();
  });
});
