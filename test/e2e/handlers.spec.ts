import { Controller, Inject, Injectable, Module, Scope, type Type } from '@nestjs/common';
import { NestFactory, REQUEST } from '@nestjs/core';
import { Ctx, EventPattern, MessagePattern, Payload, type RequestContext } from '@nestjs/microservices';
import {
  Bind,
  Consume,
  DeadLetter,
  DlxBroker,
  DlxBrokerModule,
  DlxClient,
  DlxConfigurationError,
  DlxContext,
  DlxServer,
  DlxRecordBuilder,
  Exchange,
  Queue,
  Retry,
  RetryLater,
  TopologyError,
  Ttl,
} from 'dlx-broker';
import { firstValueFrom, lastValueFrom, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { contextApp, hybrid, microservice, Morgue } from './apps.js';
import { freshBroker, here, idle, isEmbedded, until } from './places.js';
import { classOf } from '../harnesses/class-of.js';

const to = (queue: string, data: unknown): [string, unknown] => [
  queue,
  new DlxRecordBuilder(data).setExchange('').build(),
];

describe('dead letters', () => {
  it.each(['topic', 'direct', 'fanout'] as const)(
    'of one handler reach another by a %s exchange, in any order',
    async (type) => {
      @Injectable()
      class Fails {
        @Consume('orders')
        @DeadLetter('orders.dlx', 'lost')
        work(): never {
          throw new TypeError('bad');
        }
      }
      @Injectable()
      class Undertaker {
        readonly bodies: unknown[] = [];
        @Consume({ queue: 'orders.dead', exchange: { name: 'orders.dlx', type }, routingKey: 'lost' })
        take(@Payload() data: unknown): void {
          this.bodies.push(data);
        }
      }
      for (const providers of [
        [Fails, Undertaker],
        [Undertaker, Fails],
      ]) {
        const app = await contextApp({ providers });
        await firstValueFrom(app.get(DlxClient).emit(...to('orders', 5)));
        await until(() => expect(app.get(Undertaker).bodies).toEqual([5]));
      }
    },
  );

  it('go straight to a queue by the default exchange (rule G7)', async () => {
    @Injectable()
    class Both {
      readonly bodies: unknown[] = [];
      @Consume('work')
      @DeadLetter({ exchange: '', routingKey: 'grave' })
      work(): never {
        throw new Error('no');
      }
      @Consume('grave')
      bury(data: unknown): void {
        this.bodies.push(data);
      }
    }
    const app = await contextApp({ providers: [Both] });
    await firstValueFrom(app.get(DlxClient).emit(...to('work', 'x')));
    await until(() => expect(app.get(Both).bodies).toEqual(['x']));
  });

  it.runIf(isEmbedded)('tell class, message and the beginning of the stack, unless switched off', async () => {
    @Injectable()
    class Fails {
      @Consume('work')
      @DeadLetter('dlx')
      work(): never {
        throw new RangeError('x'.repeat(5_000));
      }
    }
    const told = async (errorHeaders: boolean | { stack: number }): Promise<Morgue['bodies'][number]['headers']> => {
      const app = await contextApp({ providers: [Fails, Morgue], options: { errorHeaders } });
      await firstValueFrom(app.get(DlxClient).emit(...to('work', 'x')));
      await until(() => expect(app.get(Morgue).bodies).toHaveLength(1));
      return app.get(Morgue).bodies[0]!.headers;
    };
    const all = await told(true);
    expect(all['dlx-error-class']).toBe('RangeError');
    expect(all['dlx-error-message']).toBe('x'.repeat(1_024));
    expect(all['dlx-error-stack']).toHaveLength(2_048);
    expect(await told({ stack: 0 })).not.toHaveProperty('dlx-error-stack');
    expect(await told(false)).not.toHaveProperty('dlx-error-class');
  });

  it('that are undecodable are rejected with the reason and never come back', async () => {
    @Injectable()
    class Work {
      calls = 0;
      @Consume('work')
      @DeadLetter('dlx')
      work(): void {
        this.calls++;
      }
    }
    const app = await contextApp({ providers: [Work, Morgue] });
    const broken = {
      exchange: '',
      routingKey: 'work',
      properties: { contentType: 'application/json' },
      body: Buffer.from('{'),
    };
    app.get(DlxBroker).backend.publish(broken);
    await until(() => expect(app.get(DlxBroker).counts).toMatchObject({ undecodable: 1, rejected: 1 }));
    expect(app.get(Work).calls).toBe(0);
    await until(() => expect(app.get(Morgue).bodies).toHaveLength(1));
    expect(app.get(Morgue).bodies[0]!.data).toEqual(Buffer.from('{'));
    const { backend } = app.get(DlxBroker);
    const told = backend.rejectsWithHeaders ? 'UndecodablePayloadError' : undefined;
    expect(app.get(Morgue).bodies[0]!.headers['dlx-error-class']).toBe(told);
    expect(await backend.status('work')).toMatchObject(idle);
  });

  it('that are undecodable and were parked reach the handler of the parking lot as bytes', async () => {
    @Injectable()
    class Work {
      readonly looked: unknown[] = [];
      @Consume('work')
      @Retry({ attempts: 2 })
      work(): void {}
      @Consume('work.parked')
      look(@Payload() data: unknown, @Ctx() { headers }: DlxContext): void {
        this.looked.push([data, headers['dlx-error-class']]);
      }
    }
    const app = await contextApp({ providers: [Work] });
    const { backend } = app.get(DlxBroker);
    const properties = { contentType: 'application/json' };
    backend.publish({ exchange: '', routingKey: 'work', properties, body: Buffer.from('{"id":') });
    await until(() => expect(app.get(Work).looked).toEqual([[Buffer.from('{"id":'), 'UndecodablePayloadError']]));
    await until(() => expect(app.get(DlxBroker).counts).toMatchObject({ undecodable: 1, parked: 1, rejected: 0 }));
  });

  it('that are undecodable stay bytes when their handler asks for another attempt', async () => {
    @Injectable()
    class Work {
      readonly looked: unknown[] = [];
      @Consume('work')
      @Retry({ attempts: 2 })
      work(): void {}
      @Consume('work.parked')
      look(@Payload() data: unknown): void {
        this.looked.push(data);
        if (this.looked.length < 3) throw new RetryLater(this.looked.length === 1 ? '10ms' : 0);
      }
    }
    const app = await contextApp({ providers: [Work] });
    const { backend } = app.get(DlxBroker);
    const properties = { contentType: 'application/json' };
    backend.publish({ exchange: '', routingKey: 'work', properties, body: Buffer.from('{"id":') });
    await until(() => expect(app.get(Work).looked).toEqual(Array(3).fill(Buffer.from('{"id":'))));
    expect(app.get(DlxBroker).counts).toMatchObject({ undecodable: 1, rejected: 0 });
  });
});

describe('handlers that share a queue', () => {
  @Controller()
  class Shared {
    readonly seen: string[] = [];
    @EventPattern<string>('order.created')
    @Queue('orders')
    @DeadLetter('dlx')
    created(): void {
      this.seen.push('created');
    }
    @EventPattern<string>('order.#')
    @Queue('orders')
    all(): void {
      this.seen.push('all');
    }
    @MessagePattern('order.price')
    @Queue('orders')
    price(): number {
      return 9;
    }
  }

  it('get what is theirs by the routing key', async () => {
    const app = await microservice({ controllers: [Shared] });
    await firstValueFrom(app.get(DlxClient).emit('order.created', 1));
    await until(() => expect(app.get(Shared).seen.toSorted()).toEqual(['all', 'created']));
    await firstValueFrom(app.get(DlxClient).emit('order.paid', 1));
    await until(() => expect(app.get(Shared).seen).toHaveLength(3));
    expect(app.get(DlxBroker).counts.acked).toBe(2);
  });

  it('an unknown pattern is rejected, counted and does not stop the queue', async () => {
    const app = await microservice({ controllers: [Shared], providers: [Morgue], options: { prefetch: 1 } });
    await firstValueFrom(app.get(DlxClient).emit(...to('orders', 'stray')));
    await until(() => expect(app.get(Morgue).bodies).toHaveLength(1));
    const told = app.get(DlxBroker).backend.rejectsWithHeaders ? 'UnknownPatternError' : undefined;
    expect(app.get(Morgue).bodies[0]!.headers['dlx-error-class']).toBe(told);
    expect(app.get(DlxBroker).counts).toMatchObject({ unknownPattern: 1, rejected: 1 });
    await firstValueFrom(app.get(DlxClient).emit('order.created', 1));
    await until(() => expect(app.get(Shared).seen).toHaveLength(2));
  });
});

describe('@Retry', () => {
  it('tries again after a wait, tells the attempt, then parks with the reason', async () => {
    @Controller()
    class Flaky {
      readonly attempts: [number, string][] = [];
      @EventPattern<string>('flaky')
      @Retry({ attempts: 3, backoff: { type: 'fixed', delay: 5 } })
      work(@Payload() _: unknown, @Ctx() context: DlxContext): never {
        this.attempts.push([context.attempt, context.getPattern()]);
        throw new SyntaxError('again');
      }
      readonly parked: DlxContext[] = [];
      @Consume('Flaky.work.parked')
      park(@Ctx() context: DlxContext): void {
        this.parked.push(context);
      }
    }
    const app = await microservice({ controllers: [Flaky] });
    await firstValueFrom(app.get(DlxClient).emit('flaky', { id: 1 }));
    await until(() => expect(app.get(Flaky).parked).toHaveLength(1));
    expect(app.get(Flaky).attempts).toEqual([1, 2, 3].map((attempt) => [attempt, 'flaky']));
    expect(app.get(Flaky).parked[0]!.headers).toMatchObject({ 'dlx-error-class': 'SyntaxError', 'dlx-attempt': 3 });
    await until(() => expect(app.get(DlxBroker).counts).toMatchObject({ retried: 2, parked: 1, rejected: 0 }));
  });

  it('parks at once what the policy does not retry', async () => {
    class Invalid extends Error {}
    @Injectable()
    class Strict {
      calls = 0;
      @Consume('work')
      @Retry({ attempts: 5, backoff: '1h', parkingLot: 'invalid', neverRetry: Invalid })
      work(): never {
        this.calls++;
        throw new Invalid('never');
      }
    }
    const app = await contextApp({ providers: [Strict] });
    await firstValueFrom(app.get(DlxClient).emit(...to('work', 1)));
    await until(() => expect(app.get(DlxBroker).counts).toMatchObject({ parked: 1, retried: 0 }));
    expect(await app.get(DlxBroker).backend.status('invalid')).toMatchObject({ messages: 1 });
    expect(app.get(Strict).calls).toBe(1);
  });

  it('answers a request by its last attempt only', async () => {
    @Controller()
    class Asked {
      tries = 0;
      @MessagePattern('ask')
      @Retry({ attempts: 2, backoff: { type: 'fixed', delay: 1 } })
      ask(): string {
        if (++this.tries < 2) throw new Error('not yet');
        return 'done';
      }
    }
    const app = await microservice({ controllers: [Asked] });
    expect(await lastValueFrom(app.get(DlxClient).send('ask', {}) as Observable<string>)).toBe('done');
  });
});

describe('a handler', () => {
  it('settles by hand, and its outcome does not count then', async () => {
    @Injectable()
    class ByHand {
      readonly seen: unknown[] = [];
      @Consume('work')
      @DeadLetter('dlx')
      work(@Payload() how: 'ack' | 'reject' | 'requeue', @Ctx() context: DlxContext): void {
        this.seen.push([how, context.redelivered]);
        if (context.redelivered) return;
        context[how]();
        throw new Error('after settling');
      }
    }
    const app = await contextApp({ providers: [ByHand, Morgue] });
    for (const how of ['ack', 'reject', 'requeue']) await firstValueFrom(app.get(DlxClient).emit(...to('work', how)));
    await until(() => expect(app.get(DlxBroker).counts).toMatchObject({ byHand: 3, rejected: 0 }));
    await until(() => expect(app.get(Morgue).bodies.map(({ data }) => data)).toEqual(['reject']));
    await until(() => expect(app.get(ByHand).seen).toContainEqual(['requeue', true]));
  });

  it('runs between the processing hooks of the transport', async () => {
    const order: string[] = [];
    @Controller()
    class Traced {
      @EventPattern<string>('x')
      async work(): Promise<void> {
        await Promise.resolve();
        order.push('handler');
      }
    }
    const app = await microservice({ controllers: [Traced] });
    const server = app.get(DlxServer);
    server.setOnProcessingStartHook((_transport, context, done) => {
      order.push(`start ${(context as DlxContext).getPattern()}`);
      void done();
    });
    server.setOnProcessingEndHook(() => order.push('end'));
    await firstValueFrom(app.get(DlxClient).emit('x', 1));
    await until(() => expect(app.get(DlxBroker).counts.acked).toBe(1));
    expect(order).toEqual(['start x', 'handler', 'end']);
  });

  it('takes global enhancers that are set after its topology was shown', async () => {
    @Injectable()
    class Piped {
      readonly seen: unknown[] = [];
      @Consume('work')
      work(@Payload() data: unknown): void {
        this.seen.push(data);
      }
    }
    @Module({ imports: [DlxBrokerModule.forRoot(here())], providers: [Piped] })
    class AppModule {}
    const app = await NestFactory.create(AppModule, { logger: false });
    expect(app.get(DlxBroker).describeTopology()).toMatch(/work +durable +\(Piped.work\)/);
    app.useGlobalPipes({ transform: (value: unknown) => [value] });
    await app.init();
    await firstValueFrom(app.get(DlxClient).emit(...to('work', 1)));
    await until(() => expect(app.get(Piped).seen).toEqual([[1]]));
    await app.close();
  });

  it('of a request-scoped provider gets a new instance and its request', async () => {
    let instances = 0;
    const seen: unknown[] = [];
    @Injectable({ scope: Scope.REQUEST })
    class Scoped {
      constructor(@Inject(REQUEST) private readonly request: RequestContext) {
        instances++;
      }
      @Consume({ queue: 'work' })
      work(@Payload() data: unknown): void {
        seen.push([data, this.request.getData(), this.request.getContext() instanceof DlxContext]);
      }
    }
    const app = await contextApp({ providers: [Scoped] });
    await firstValueFrom(app.get(DlxClient).emit(...to('work', 1)));
    await firstValueFrom(app.get(DlxClient).emit(...to('work', 2)));
    await until(() => expect(seen).toEqual([1, 2].map((n) => [n, n, true])));
    expect(instances).toBe(2);
  });

  it('in a hybrid application works by either way', async () => {
    @Controller()
    class Mixed {
      readonly seen: string[] = [];
      @EventPattern<string>('a.*')
      event(): void {
        this.seen.push('event');
      }
      @Consume({ routingKey: 'a.#' })
      consume(): void {
        this.seen.push('consume');
      }
    }
    for (const startFirst of [false, true]) {
      const app = await hybrid({ controllers: [Mixed] }, true, startFirst);
      await firstValueFrom(app.get(DlxClient).emit('a.b', 1));
      await until(() => expect(app.get(Mixed).seen.toSorted()).toEqual(['consume', 'event']));
    }
  });

  it('inherited by two controllers has a queue for each', async () => {
    abstract class Base {
      readonly seen: unknown[] = [];
      @EventPattern<string>('x')
      work(data: unknown): void {
        this.seen.push(data);
      }
    }
    @Controller()
    class One extends Base {}
    @Controller()
    class Two extends Base {}
    const app = await microservice({ controllers: [One, Two] });
    await firstValueFrom(app.get(DlxClient).emit('x', 1));
    await until(() => expect([app.get(One).seen, app.get(Two).seen]).toEqual([[1], [1]]));
    expect(await app.get(DlxBroker).backend.status('Two.work')).toMatchObject({ consumers: 1 });
  });
});

describe('bad input is an error at start:', () => {
  const never = { attempts: 0, backoff: { type: 'fixed', delay: '1s' } } as const;
  const same = (): Type => classOf('Same', { one: [Consume()] });
  const seats = "queues: [queue('reservations', { ttl: '30s', deadLetter: 'r.dlx' })]";
  it.each<[what: string, classes: readonly Type[], text: string]>([
    [
      'two handlers of one request',
      [classOf('Twins', { one: [MessagePattern('sum')], two: [MessagePattern('sum')] }, Controller())],
      "Twins.one and Twins.two both handle pattern 'sum'",
    ],
    [
      'a request with wildcards',
      [classOf('Wild', { one: [MessagePattern('sum.*')] }, Controller())],
      "@MessagePattern on Wild.one: 'sum.*' has wildcards",
    ],
    [
      'a duration that is none',
      [classOf('Late', { one: [Consume('q'), Ttl('soon')] })],
      "@Ttl on Late.one: 'soon' is not a duration",
    ],
    [
      'a retry that can never work',
      [classOf('Never', { one: [Consume('q'), Retry(never)] })],
      '@Retry on Never.one: attempts is 0',
    ],
    [
      'two classes of one name that would share a queue',
      [same(), same()],
      "Same.one and Same.one both handle queue 'Same.one'",
    ],
    [
      'decorators above a method that handles nothing',
      [classOf('Idle', { one: [Ttl('1s')] })],
      '@Ttl on Idle.one needs @Consume',
    ],
    [
      'decorators of a queue in which messages shall wait, and says how such a queue is declared',
      [classOf('Seats', { release: [Queue('reservations'), Ttl('30s'), DeadLetter('r.dlx')] })],
      'beside it; a queue in which messages wait without a consumer is declared by ' +
        `forRoot({ topology: { ${seats} } }) or by forFeature({ ${seats} })`,
    ],
    [
      'exchanges declared differently',
      [
        classOf('Differ', {
          one: [Consume('a'), Exchange('x', { type: 'fanout' })],
          two: [Consume('b'), Exchange('x', { type: 'direct' })],
        }),
      ],
      "exchange 'x': two declarations differ in type",
    ],
  ])('%s', async (_, classes, text) => {
    const started = microservice({ controllers: classes });
    await expect(started).rejects.toBeInstanceOf(DlxConfigurationError);
    await expect(started).rejects.toThrow(text);
  });

  it('two brokers of one name', async () => {
    const imports = [DlxBrokerModule.forRoot(), DlxBrokerModule.forRoot({ prefetch: 5 })];
    await expect(contextApp({ imports })).rejects.toThrow(
      /there are 2 brokers 'default'; import forRoot\(\) once, in the root module, or give each its name/,
    );
  });

  it('a queue that is there with other arguments, listed one by one (TopologyError)', async () => {
    const Before = classOf('Before', { take: [Consume('q'), Ttl('1s')] });
    const After = classOf('After', { take: [Consume('q'), Ttl('2s')] });
    const options = { broker: freshBroker() };
    await contextApp({ providers: [Before], options });
    const second = contextApp({ providers: [After], options });
    await expect(second).rejects.toBeInstanceOf(TopologyError);
    await expect(second).rejects.toThrow(
      /queue 'q' x-message-ttl: the existing one has 1000, the declaration has 2000 \(After.take\)/,
    );
  });

  it.skipIf(isEmbedded)('an exchange of a type that the server may not have, with the one that was meant', async () => {
    const typed = (type: string) => ({ options: { topology: { exchanges: [{ name: 'x', type }] } } });
    const unsure = (type: string, then: string): RegExp =>
      new RegExp(
        `exchange 'x' \\(.*topology.*\\): the server does not say whether it has the type '${type}'.*; ${then}`,
      );
    await expect(contextApp(typed('topik'))).rejects.toThrow(
      unsure('topik', "did you mean 'topic'\\? Otherwise declare"),
    );
    await expect(contextApp(typed('x-magic'))).rejects.toThrow(unsure('x-magic', 'declare the exchange'));
  });

  it.runIf(isEmbedded)('an exchange of a type that does not exist, with those that do (rule P3)', async () => {
    const types = 'direct, fanout, topic, headers';
    const broker = { exchanges: [{ name: 'x', type: 'topik' }] };
    await expect(contextApp({ options: { topology: broker } })).rejects.toThrow(
      new RegExp(
        `exchange 'x' \\(.*topology.*\\): .*unknown exchange type 'topik'; did you mean 'topic'\\? there are ${types}, x-delayed-message$`,
      ),
    );
    const delayed = { name: 'y', type: 'x-delayed-message', arguments: { 'x-delayed-type': 'magic' } };
    await expect(contextApp({ options: { topology: { exchanges: [delayed] } } })).rejects.toThrow(
      new RegExp(`unknown exchange type 'magic'; there are ${types}$`),
    );
  });

  it('an unknown option', async () => {
    await expect(contextApp({ options: { prefech: 5 } as never })).rejects.toThrow(/'prefech' is no option/);
    await expect(contextApp({ options: { drainTimeout: 'later' } })).rejects.toThrow(/option 'drainTimeout'.*'later'/);
  });
});

it('the topology can be seen before and after', async () => {
  const Seen = classOf(
    'Seen',
    {
      one: [EventPattern<string>('order.*'), DeadLetter('orders.dlx'), Bind('amq.fanout')],
    },
    Controller(),
  );
  const app = await microservice({ controllers: [Seen] });
  const described = app.get(DlxBroker).describeTopology();
  expect(described).toMatch(/dlx.events --order.\*--> Seen.one/);
  expect(described).toMatch(/amq.fanout ----> Seen.one/);
  expect(described).toMatch(/Seen.one +durable, x-dead-letter-exchange=orders.dlx/);
  expect(
    app
      .get(DlxBroker)
      .topology()
      .exchanges.map(({ name }) => name),
  ).toEqual(['dlx.events', 'dlx.requests', 'orders.dlx']);
});
