import { Controller, Injectable } from '@nestjs/common';
import { EventPattern, Payload } from '@nestjs/microservices';
import {
  Consume,
  DeadLetter,
  DlxBroker,
  DlxBrokerModule,
  DlxRecordBuilder,
  embedded,
  MaxLength,
  Prefetch,
  rabbitmq,
  Retry,
  Ttl,
} from 'dlx-broker';
import { silentOutbox } from 'dlx-broker/engine';
import { serve } from 'dlx-broker/server';
import { DlxTesting } from 'dlx-broker/testing';
import { createServer } from 'node:net';
import { lastValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { blocksOf } from './blocks.js';
import { passFirstSecond, tryApp, type Tried } from './tried.js';

const pages = ['docs/guide/troubleshooting.md', 'docs/reference/log.md'];
const texts = pages
  .flatMap(blocksOf)
  .filter(({ language, text }) => language === 'text' && !text.includes('attempt 1 of 3')) // outputs.spec.ts has those
  .map(({ text }) => text.trimEnd());
const seen = new Set<string>();

/** Expects that the page shows a text as it is. */
function expectShown(text: string): void {
  expect(texts).toContain(text);
  seen.add(text);
}

const opened: { close(): Promise<void> }[] = [];
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(async () => {
  vi.useRealTimers();
  for (const app of opened.splice(0)) await app.close();
});

it('docs/reference/log.md shows a normal start, and its end', async () => {
  @Injectable()
  class Orders {
    @Consume({ queue: 'orders', routingKey: 'order.created' })
    @Retry({ attempts: 5 })
    create(): void {}
    @Consume({ queue: 'mails', routingKey: 'order.*' })
    @DeadLetter('mails.dlx')
    mail(): void {}
    @Consume({ queue: 'mails.dead', exchange: 'mails.dlx', routingKey: '#' })
    @DeadLetter(false)
    bury(): void {}
  }
  const { app, lines } = await start({ providers: [Orders], options: { broker: embedded() } });
  await app.close();
  expectShown(lines.join('\n'));
});

type Handlers = new (...args: never[]) => object;
const start = (parts: Parameters<typeof tryApp>[0]): Promise<Tried> => tryApp(parts, opened);
const lineWith = ({ lines }: Tried, part: string): string =>
  lines.find((line) => line.includes(part)) ?? `no line with ${part}:\n${lines.join('\n')}`;

describe('My handler is not called', () => {
  @Controller()
  class OrdersController {
    @EventPattern<string>('order.*')
    created(): void {}
  }
  @Injectable()
  class Orders {
    @Consume('orders')
    @DeadLetter(false)
    create(): void {}
  }

  it('the log shows each handler with its bindings', async () => {
    @Injectable()
    class Orders {
      @Consume({ queue: 'orders', routingKey: 'order.created' })
      @Retry({ attempts: 3, backoff: '5s' })
      create(): void {}
    }
    expectShown(lineWith(await start({ providers: [Orders] }), 'consumes'));
  });

  it('no server is connected', async () => {
    const tried = await start({ controllers: [OrdersController] });
    passFirstSecond();
    expectShown(lineWith(tried, 'DlxServer'));
  });

  it('the server is not started', async () => {
    const tried = await start({ controllers: [OrdersController], server: 'unstarted' });
    passFirstSecond();
    expectShown(lineWith(tried, 'not started'));
  });

  it('a pattern in a provider', async () => {
    const tried = await start({ providers: [OrdersController] });
    passFirstSecond();
    expectShown(lineWith(tried, 'in controllers only'));
  });

  it('the name of a queue as a pattern, and a key without a binding', async () => {
    const tried = await start({ providers: [Orders] });
    tried.client.emit('orders', {});
    tried.client.emit('order.craeted', {});
    await tried.settle();
    const line = lineWith(tried, "emit of 'orders'");
    expectShown(line);
    expect(lineWith(tried, 'craeted')).toBe(line.replaceAll("'orders'", "'order.craeted'"));
  });

  it('a packet of Nest', async () => {
    const tried = await start({ providers: [Orders] });
    const body = Buffer.from('{"pattern":"order.created","data":{"id":7}}');
    tried.broker.connect().openChannel(silentOutbox).publish('', 'orders', { contentType: 'application/json' }, body);
    await tried.settle();
    expectShown(lineWith(tried, 'packet'));
  });
});

describe('My message is gone', () => {
  it('without a dead-letter exchange', async () => {
    @Injectable()
    class Orders {
      @Consume('orders')
      create(): void {}
    }
    expectShown(lineWith(await start({ providers: [Orders] }), 'is lost'));
  });

  it('a dead-letter exchange without a queue', async () => {
    @Injectable()
    class Orders {
      @Consume('orders')
      @DeadLetter('orders.dlx', 'failed')
      create(): void {}
    }
    expectShown(lineWith(await start({ providers: [Orders] }), 'are dropped'));
  });

  it('the default exchange without the name of a queue', async () => {
    @Injectable()
    class Orders {
      @Consume({ queue: 'orders', routingKey: 'order.created' })
      @DeadLetter('')
      create(): void {}
    }
    expectShown(lineWith(await start({ providers: [Orders] }), 'are dropped'));
  });

  it('mandatory', async () => {
    const { client } = await start({});
    const record = new DlxRecordBuilder({ id: 7 }).setOptions({ mandatory: true }).build();
    const failure = await lastValueFrom(client.emit('order.created', record)).catch((error: Error) => error);
    expectShown(`${(failure as Error).name}: ${(failure as Error).message}`);
  });

  it('expired and dropped messages beside a retry policy: the line of the handler says that they are deleted', async () => {
    @Injectable()
    class Offers {
      @Consume('offers')
      @Ttl('1m')
      @MaxLength(1000)
      @Retry({ attempts: 3, backoff: '5s' })
      handle(): void {}
    }
    expectShown(lineWith(await start({ providers: [Offers] }), 'consumes'));
  });

  it('expired without a dead-letter exchange: only the events show it', async () => {
    @Injectable()
    class Offers {
      @Consume('offers')
      @Prefetch(1)
      @Ttl('1s')
      @DeadLetter(false)
      handle(): Promise<void> {
        return new Promise(() => undefined);
      }
    }
    vi.useRealTimers();
    const dlx = await DlxTesting.create({ providers: [Offers] }, { logger: false, timeout: 50 });
    for (const id of [1, 2]) await dlx.publish('offers', { id });
    await dlx.advance('2s', { except: ['offers'] });
    expect(
      String(dlx.timeline)
        .split('\n')
        .map((line) => line.trim().split(/ {2,}/)),
    ).toContainEqual(['+1000 ms', 'expired', 'offers']);
    expect(dlx.queue('offers')).toMatchObject({ ready: 0, unacknowledged: 1 });
    await dlx.close();
  });

  it('what no queue takes is counted', async () => {
    const { app, client, settle } = await start({});
    client.emit('order.created', {});
    await settle();
    expect(app.get(DlxBroker).counts.unroutable).toBe(1);
  });

  it('a handler that does not return its promise is acked before the work is done', async () => {
    let fails: (() => void) | undefined;
    @Injectable()
    class Orders {
      @Consume({ queue: 'orders', routingKey: 'order.*' })
      @Retry({ attempts: 3 })
      create(): void {
        void new Promise<void>((_, reject) => (fails = () => reject(new Error('no tea')))).catch(() => undefined);
      }
    }
    const { app, client, settle } = await start({ providers: [Orders] });
    client.emit('order.created', {});
    await settle();
    fails?.();
    await settle();
    expect(app.get(DlxBroker).counts).toMatchObject({ acked: 1, retried: 0, parked: 0 });
  });
});

describe('The application does not start', () => {
  it('other arguments', async () => {
    @Injectable()
    class Orders {
      @Consume('orders')
      @MaxLength(1000)
      @DeadLetter('orders.dlx')
      create(): void {}
    }
    const here = await start({ options: { topology: { queues: ['orders'] } } });
    const failure = await tryOn(here, Orders).catch((error: Error) => error);
    expectShown(`${(failure as Error).name}: ${(failure as Error).message}`);
  });

  it('a misspelt option', () => {
    try {
      DlxBrokerModule.forRoot({ prefech: 10 } as object);
    } catch (error) {
      const text = `${(error as Error).name}: ${(error as Error).message}`;
      expectShown(text.replace(/(there are \w+), .*$/, '$1, ...'));
    }
  });

  it('no server', async () => {
    vi.useRealTimers();
    const closed = createServer().listen(0, '127.0.0.1');
    await new Promise((done) => closed.once('listening', done));
    const { port } = closed.address() as { port: number };
    await new Promise((done) => closed.close(done));
    const broker = rabbitmq({ urls: `amqp://127.0.0.1:${port}/shop`, startAttempts: 1 });
    const failure = await start({ options: { broker } }).catch((error: Error) => error);
    expectShown(
      `${(failure as Error).name}: ${(failure as Error).message}`
        .replaceAll(String(port), '5672')
        .replace(/\d+\.\d s/, '0.0 s'),
    );
  });

  it('a refused login', async () => {
    vi.useRealTimers();
    const served = await serve({ amqp: { host: '127.0.0.1', port: 0 } });
    try {
      const broker = rabbitmq({ urls: `amqp://shop:wrong@127.0.0.1:${served.amqp.port}` });
      const failure = await start({ options: { broker } }).catch((error: Error) => error);
      expectShown(
        `${(failure as Error).name}: ${(failure as Error).message}`
          .replaceAll(String(served.amqp.port), '5672')
          .replace(/\d+\.\d s/, '0.0 s'),
      );
    } finally {
      await served.close();
    }
  });
});

async function tryOn({ broker }: Tried, handlers: Handlers): Promise<unknown> {
  const { sharedBroker } = await import('dlx-broker');
  return start({ providers: [handlers], options: { broker: sharedBroker(broker) } });
}

describe('The message is neither acked nor rejected', () => {
  it('a handler that hangs', async () => {
    @Injectable()
    class Orders {
      @Consume('orders')
      @Retry({ attempts: 2, backoff: '1s', timeout: '30s' })
      create(): Promise<void> {
        return new Promise(() => undefined);
      }
    }
    vi.useRealTimers();
    const dlx = await DlxTesting.create({ providers: [Orders] }, { logger: false, timeout: 50 });
    await dlx.publish('orders', { id: 1 });
    const failure = await dlx.settled().catch((error: Error) => error);
    expectShown(`${(failure as Error).name}: ${(failure as Error).message}`);
    await dlx.advance('61s', { except: ['orders'] });
    expectShown(`${dlx.deadLetters('orders.parked')[0]?.error?.message}`);
    await dlx.close();
  });
});

describe('Dead letters say only Internal server error', () => {
  it('without inheritAppConfig', async () => {
    @Controller()
    class OrdersController {
      @EventPattern<string>('order.created')
      @Retry({ attempts: 1 })
      created(): never {
        throw new Error('no tea');
      }
    }
    const tried = await start({ controllers: [OrdersController], server: 'started', inheritAppConfig: false });
    tried.client.emit('order.created', {});
    await tried.settle();
    expectShown(lineWith(tried, 'inheritAppConfig'));
  });
});

describe('A request fails at once', () => {
  it('is not sent before it is subscribed to', async () => {
    const { app, client, settle } = await start({});
    client.send('order.price', {});
    await settle();
    expect(app.get(DlxBroker).counts.unroutable).toBe(0);
  });

  it('without a handler', async () => {
    const { client } = await start({});
    const failure = await lastValueFrom(client.send('order.price', {})).catch((error: Error) => error);
    expectShown(`${(failure as Error).name}: ${(failure as Error).message}`);
  });
});

describe('The order of messages', () => {
  const run = async (handlers: Handlers): Promise<string[]> => {
    vi.useRealTimers();
    const dlx = await DlxTesting.create({ providers: [handlers] }, { logger: false });
    for (const name of ['slow', 'quick']) await dlx.publish('orders', name);
    await dlx.settled();
    await dlx.close();
    return done.splice(0);
  };
  const done: string[] = [];
  const work = async (name: string): Promise<void> => {
    for (let turn = 0; turn < (name === 'slow' ? 5 : 1); turn++) await new Promise((next) => setImmediate(next));
    done.push(name);
  };

  it('is that of the ends of handlers, which @Prefetch(1) makes that of the queue', async () => {
    @Injectable()
    class Many {
      @Consume('orders')
      @DeadLetter(false)
      handle(@Payload() name: string): Promise<void> {
        return work(name);
      }
    }
    @Injectable()
    class One {
      @Consume('orders')
      @Prefetch(1)
      @DeadLetter(false)
      handle(@Payload() name: string): Promise<void> {
        return work(name);
      }
    }
    expect(await run(Many)).toEqual(['quick', 'slow']);
    expect(await run(One)).toEqual(['slow', 'quick']);
  });
});

it('every text of the two pages is tried', () => {
  expect(texts.filter((text) => !seen.has(text))).toEqual([]);
});
