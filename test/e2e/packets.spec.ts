import { Controller, Injectable, type Type } from '@nestjs/common';
import { Ctx, EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { Consume, DlxBroker, DlxClient, DlxContext, Idempotent, Queue, Retry } from 'dlx-broker';
import { DlxTesting, type TransportOptions } from 'dlx-broker/testing';
import { firstValueFrom, lastValueFrom, of, throwError, toArray } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { classOf } from '../harnesses/class-of.js';

const opened: DlxTesting[] = [];
afterEach(async () => {
  for (const dlx of opened.splice(0)) await dlx.close();
});

/** What the handlers of a test saw: the name of the handler, and what it notes. */
type Seen = unknown[];

async function start(type: Type, options: TransportOptions = {}) {
  const warnings: string[] = [];
  const ignore = (): void => undefined;
  const logger = { log: ignore, error: ignore, warn: (text: unknown) => void warnings.push(String(text)) };
  const dlx = new DlxTesting({ logger });
  opened.push(dlx);
  await dlx.start({ controllers: [type], providers: [] }, options);
  const client = dlx.app.get(DlxClient);
  const suspicions = (): string[] => warnings.filter((text) => text.includes('looks like a packet'));
  return { dlx, client, suspicions, counts: () => dlx.app.get(DlxBroker).counts };
}

/** As ClientRMQ publishes: without a content type. */
const bare = { contentType: undefined };
const packet = (pattern: unknown, data: unknown) => ({ pattern, data });
const all = (stream: ReturnType<DlxClient['send']>): Promise<unknown> => lastValueFrom(stream.pipe(toArray()));

/** Handlers that share a queue, of which one says that it has packets. */
function sharing(seen: Seen): Type {
  @Controller()
  class Shop {
    @EventPattern<string>('order.*')
    @Queue({ name: 'shop', envelope: 'nest' })
    @Retry({ attempts: 3, backoff: '1s' })
    ordered(@Payload() data: { readonly bad?: true }, @Ctx() context: DlxContext): void {
      seen.push(['ordered', context.getPattern(), context.attempt, data]);
      if (data.bad === true) throw new Error('bad');
    }

    @EventPattern('order.paid')
    @Queue('shop')
    paid(@Payload() data: unknown): void {
      seen.push(['paid', data]);
    }

    @MessagePattern({ cmd: 'price' })
    @Queue('shop')
    price(@Payload() item: string) {
      return item === 'dragon' ? throwError(() => new Error('no dragons')) : of(item.length, undefined, 3);
    }
  }
  return Shop;
}

describe('a queue with envelope nest', () => {
  it('gives each handler the data of the packets with its pattern, whatever their routing key', async () => {
    const seen: Seen = [];
    const { dlx } = await start(sharing(seen));
    await dlx.publish('shop', packet('order.new', { id: 1 }), bare);
    await dlx.publish('shop', packet('order.paid', { id: 2 }), bare);
    await dlx.settled();
    expect(seen).toEqual([
      ['ordered', 'order.new', 1, { id: 1 }],
      ['ordered', 'order.paid', 1, { id: 2 }],
      ['paid', { id: 2 }],
    ]);
  });

  it('takes a body that is no packet as the data, and the routing key as its pattern', async () => {
    const seen: Seen = [];
    const { dlx, client } = await start(sharing(seen));
    client.emit('order.new', { data: 1 });
    await dlx.settled();
    expect(seen).toEqual([['ordered', 'order.new', 1, { data: 1 }]]);
  });

  it('keeps pattern and attempt of a packet over its waits, and parks it as it came', async () => {
    const seen: Seen = [];
    const { dlx } = await start(sharing(seen));
    await dlx.publish('shop', packet('order.new', { bad: true }), bare);
    await dlx.advance('1m');
    expect(seen).toEqual([1, 2, 3].map((attempt) => ['ordered', 'order.new', attempt, { bad: true }]));
    dlx.expectQueue('shop.parked').toHold([packet('order.new', { bad: true })]);
  });

  it('answers requests, and a value that is undefined does not end the stream', async () => {
    const { client } = await start(sharing([]));
    const shop = client.to({ queue: 'shop', envelope: 'nest' });
    expect(await all(shop.send({ cmd: 'price' }, 'tea'))).toEqual([3, null, 3]);
    await expect(all(shop.send({ cmd: 'price' }, 'dragon'))).rejects.toMatchObject({ status: 'error' });
  });

  it('answers a request for events: by the only handler, or when all of them have ended', async () => {
    const seen: Seen = [];
    const { client } = await start(sharing(seen));
    const shop = client.to({ queue: 'shop', envelope: 'nest' });
    expect(await all(shop.send('order.new', { id: 1 }))).toEqual([]);
    expect(await all(shop.send('order.paid', { id: 2 }))).toEqual([]);
    expect(seen).toHaveLength(3);
  });

  it('answers and refuses a request that no handler is for', async () => {
    const { dlx, client, counts } = await start(sharing([]));
    const asked = all(client.to({ queue: 'shop', envelope: 'nest' }).send('none', 1));
    await expect(asked).rejects.toBe('There is no matching message handler defined in the remote service.');
    await dlx.settled();
    expect(counts()).toMatchObject({ unknownPattern: 1 });
  });

  it('gives a request to its own handler alone, which may retry before it answers', async () => {
    const seen: Seen = [];
    @Controller()
    class Prices {
      @EventPattern('order.#')
      @Queue({ name: 'prices', envelope: 'nest' })
      any(@Payload() data: unknown): void {
        seen.push(['any', data]);
      }

      @MessagePattern<string>('order.price')
      @Queue('prices')
      @Retry({ attempts: 3, backoff: '1s' })
      price(@Payload() item: string, @Ctx() context: DlxContext): string {
        seen.push(['price', context.attempt]);
        if (context.attempt < 3) throw new Error('busy');
        return `${item}: 7`;
      }
    }
    const { dlx, client } = await start(Prices);
    const asked = all(client.to({ queue: 'prices', envelope: 'nest' }).send('order.price', 'tea'));
    await dlx.advance('1m');
    expect(await asked).toEqual(['tea: 7']);
    expect(seen).toEqual([1, 2, 3].map((attempt) => ['price', attempt]));
  });

  it('refuses what cannot be read, and goes on', async () => {
    const seen: Seen = [];
    const { dlx, counts } = await start(sharing(seen));
    await dlx.publish('shop', Buffer.from('{"pattern":'), bare);
    await dlx.publish('shop', packet('order.new', {}), bare);
    await dlx.settled();
    expect(counts()).toMatchObject({ undecodable: 1 });
    expect(seen).toHaveLength(1);
  });

  it('whose only handler is a @Consume: it gets all packets', async () => {
    const seen: Seen = [];
    @Injectable()
    class Dead {
      @Consume({ queue: 'dead', exchange: 'dlx', routingKey: 'x', envelope: 'nest' })
      @Idempotent({ key: (data) => String((data as { id: number }).id) })
      take(@Payload() data: unknown, @Ctx() context: DlxContext): void {
        seen.push([context.getPattern(), data]);
      }
    }
    const { dlx, client } = await start(Dead);
    await dlx.publish('dead', packet('order.new', { id: 1 }), bare);
    await dlx.publish('dead', packet('order.new', { id: 1 }), bare);
    await dlx.settled();
    expect(seen).toEqual([['order.new', { id: 1 }]]);
    // It was handled before, and a request for it has its answer all the same.
    expect(await all(client.to({ queue: 'dead', envelope: 'nest' }).send('order.new', { id: 1 }))).toEqual([]);
    expect(seen).toHaveLength(1);
  });
});

describe('a module with envelope nest', () => {
  function two(seen: Seen): Type {
    @Controller()
    class Two {
      @EventPattern<string>('a')
      @Queue('a')
      a(@Payload() data: unknown, @Ctx() context: DlxContext): void {
        seen.push(['a', data, { ...context.getMetadata() }]);
      }

      @EventPattern('b')
      @Queue({ name: 'b', envelope: 'none' })
      b(@Payload() data: unknown): void {
        seen.push(['b', data]);
      }
    }
    return Two;
  }

  it('writes and reads packets, with the metadata of dispatch hooks, except where envelope is none', async () => {
    const seen: Seen = [];
    const { dlx, client, suspicions } = await start(two(seen), { envelope: 'nest' });
    client.setOnDispatchHook((outgoing) => (outgoing.metadata = { trace: 't1' }));
    client.emit('a', 1);
    client.emit('b', 2);
    await dlx.settled();
    expect(seen).toEqual([
      ['a', 1, { trace: 't1' }],
      ['b', { pattern: 'b', data: 2, metadata: { trace: 't1' } }],
    ]);
    expect(suspicions()).toEqual([]);
  });

  it('gets the answers of a handler that answers without packets', async () => {
    @Controller()
    class Echo {
      @MessagePattern('echo')
      @Queue({ name: 'echo', envelope: 'none' })
      echo(@Payload() data: unknown) {
        return of(data, { response: 1 });
      }
    }
    const { client } = await start(Echo, { envelope: 'nest' });
    const [first, second] = (await all(client.send('echo', 7))) as unknown[];
    expect(first).toMatchObject({ pattern: 'echo', data: 7 });
    expect(second).toEqual({ response: 1 });
  });

  it('has clients for a queue, which delay, take over hooks, and end with the application', async () => {
    const seen: Seen = [];
    const { dlx, client } = await start(two(seen), { envelope: 'nest' });
    const toA = client.to({ queue: 'a' });
    expect(client.to({ queue: 'a', envelope: 'nest' })).toBe(toA);
    client.setOnDispatchHook((outgoing) => (outgoing.metadata = { trace: 't2' }));
    toA.emit('a', 1, { delay: '10m' });
    await dlx.advance('9m');
    expect(seen).toEqual([]);
    await dlx.advance('1m');
    expect(seen).toEqual([['a', 1, { trace: 't2' }]]);
    await dlx.close();
    await expect(firstValueFrom(toA.emit('a', 1))).rejects.toMatchObject({ name: 'ClientClosedError' });
    await expect(firstValueFrom(client.to({ exchange: 'x' }).emit('a', 1))).rejects.toThrow('the client is closed');
  });
});

describe('a body that looks like a packet, on a queue without the option', () => {
  function plain(seen: Seen, envelope?: 'none'): Type {
    @Injectable()
    class Plain {
      @Consume({ queue: 'plain', routingKey: 'a', ...(envelope && { envelope }) })
      take(@Payload() data: unknown): void {
        seen.push(data);
      }
    }
    return Plain;
  }

  it('is warned of once', async () => {
    const seen: Seen = [];
    const { dlx, suspicions } = await start(plain(seen));
    await dlx.publish('plain', { id: 1, data: 1 }, bare);
    expect(suspicions()).toEqual([]);
    await dlx.publish('plain', packet('a', 1), bare);
    await dlx.publish('plain', packet('a', 2), bare);
    await dlx.settled();
    expect(seen).toHaveLength(3);
    expect(suspicions()).toEqual([
      "queue 'plain': a body looks like a packet of Nest's RabbitMQ transport, { pattern, data }, and Plain.take gets all of it. " +
        "If handlers shall get the data, write @Queue({ name: 'plain', envelope: 'nest' }) or @Consume({ queue: 'plain', " +
        "envelope: 'nest' }) above one of them, or option envelope: 'nest' of DlxBrokerModule; if it is no packet, write " +
        "envelope: 'none'",
    ]);
  });

  it('is not warned of where envelope is none', async () => {
    const { dlx, suspicions } = await start(plain([], 'none'));
    await dlx.publish('plain', packet('a', 1), bare);
    await dlx.settled();
    expect(suspicions()).toEqual([]);
  });

  it('is warned of where several handlers share the queue, and its routing key is of none of them', async () => {
    const Shared = classOf('Shared', {
      a: [Consume({ queue: 'shared', routingKey: 'a' })],
      b: [Consume({ queue: 'shared', routingKey: 'b' })],
    });
    const { dlx, suspicions } = await start(Shared);
    await dlx.publish('shared', packet('a', 1), bare);
    await dlx.settled();
    expect(suspicions()).toEqual([
      expect.stringContaining('its pattern is not read, so Shared.a and Shared.b cannot get it'),
    ]);
  });
});

describe('mistakes', () => {
  const consuming = (...decorators: MethodDecorator[]): Type => {
    class Worker {
      take(): void {}
    }
    const descriptor = Object.getOwnPropertyDescriptor(Worker.prototype, 'take')!;
    for (const decorate of decorators) decorate(Worker.prototype, 'take', descriptor as never);
    Injectable()(Worker);
    return Worker;
  };
  const rmq = 'rmq' as 'nest';

  it.each([
    [consuming(Consume({ queue: 'q', envelope: rmq })), {}, 'envelope of @Consume on Worker.take: '],
    [consuming(Consume('q'), Queue({ envelope: rmq })), {}, 'envelope of @Queue on Worker.take: '],
    [
      consuming(Consume({ queue: 'q', envelope: 'none' }), Queue({ envelope: 'nest' })),
      {},
      "Worker.take: @Queue says envelope 'nest' and @Consume 'none'",
    ],
    [consuming(Consume('q')), { envelope: rmq }, "option 'envelope' of DlxBrokerModule (broker 'default'): "],
  ])('%# stop the start', async (type, options, text) => {
    await expect(start(type, options)).rejects.toThrow(text);
  });

  it('handlers of one queue that differ', async () => {
    @Injectable()
    class Differ {
      @Consume({ queue: 'q', routingKey: 'a', envelope: 'nest' })
      a(): void {}

      @Consume({ queue: 'q', routingKey: 'b', envelope: 'none' })
      b(): void {}
    }
    await expect(start(Differ)).rejects.toThrow(
      "queue 'q': its handlers differ in envelope: Differ.a says nest, Differ.b says none",
    );
  });

  it.each([
    [{}, 'write either a queue or an exchange'],
    [{ queue: 'q', exchange: 'e', envelope: 'nest' }, 'write either a queue or an exchange'],
    [{ queue: 'q' }, "without a packet the pattern would be lost on the way to queue 'q'"],
    [{ queue: 'q', envelope: 'none' }, 'without a packet the pattern would be lost'],
    [{ queue: '', envelope: 'nest' }, 'queue of to() of DlxClient'],
    [{ queue: 'q', envelope: 'rmq' }, "envelope of to() of DlxClient: 'rmq' is not one of nest, none"],
    [{ queues: 'q' }, 'queues'],
    ['q', "write { queue: 'orders', envelope: 'nest' }"],
  ])('to(%j)', async (target, text) => {
    const { client } = await start(consuming(Consume('q')));
    expect(() => client.to(target as Parameters<DlxClient['to']>[0])).toThrow(text);
  });
});
