import { Injectable, Logger, Scope, type Type } from '@nestjs/common';
import { Consume, type Death, DeadLetter, DlxBroker, OnDeadLetter, Reject, Retry } from 'dlx-broker';
import { DlxTesting } from 'dlx-broker/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';

const opened: DlxTesting[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(opened.splice(0).map((dlx) => dlx.close()));
});

@Injectable()
class Orders {
  @Consume('orders')
  @Retry({ attempts: 2, backoff: '1s' })
  ship(): never {
    throw new RangeError('no stock of 17');
  }

  @Consume('invoices')
  @DeadLetter({ exchange: '', routingKey: 'dead' })
  @Retry({ attempts: 2, backoff: '1s' })
  bill(): never {
    throw new Reject('no address');
  }
}

const queues = [{ name: 'dead', durable: true, exclusive: false, autoDelete: false, arguments: new Map() }];

async function start(...providers: Type[]): Promise<DlxTesting> {
  const dlx = new DlxTesting({ logger: false });
  opened.push(dlx);
  await dlx.start({ providers: [Orders, ...providers] }, { topology: { queues } });
  return dlx;
}

/** A provider whose method hears of deaths. */
function listener(options: Parameters<typeof OnDeadLetter>[0], hear: (death: Death) => unknown): Type {
  @Injectable()
  class Listener {
    @OnDeadLetter(options)
    told(death: Death): unknown {
      return hear(death);
    }
  }
  return Listener;
}

const linesOf = (level: 'warn' | 'error') => {
  const spy = vi.spyOn(Logger.prototype, level);
  return () => spy.mock.calls.map(([line]) => String(line)).filter((line) => line.startsWith('@OnDeadLetter'));
};

describe('@OnDeadLetter', () => {
  it('hears of what is parked and rejected, with the error, the fingerprint and the message', async () => {
    const deaths: Death[] = [];
    const dlx = await start(listener({}, (death) => void deaths.push(death)));
    await dlx.publish('orders', { id: 1 });
    await dlx.publish('invoices', { id: 2 });
    await dlx.advance('1s');
    expect(
      deaths.map(({ kind, queue, to, attempt, handler, letter }) => [
        kind,
        queue,
        to,
        attempt,
        handler,
        letter.payload,
      ]),
    ).toEqual([
      ['rejected', 'invoices', undefined, undefined, undefined, { id: 2 }],
      ['parked', 'orders', 'orders.parked', 2, 'Orders.ship', { id: 1 }],
    ]);
    expect(deaths[1]!.error).toBeInstanceOf(RangeError);
    for (const { fingerprint } of deaths) expect(fingerprint).toMatch(/^1:[0-9a-f]{16}$/);
  });

  it('hears of what expired, and not of the end of a wait', async () => {
    const deaths: Death[] = [];
    const dlx = await start(listener({ kinds: ['expired'] }, (death) => void deaths.push(death)));
    await dlx.publish('orders', { id: 1 });
    dlx.app.get(DlxBroker).backend.publish({
      exchange: '',
      routingKey: 'dead',
      properties: { expiration: '500' },
      body: Buffer.from('{}'),
    });
    await dlx.advance('1s');
    expect(deaths.map(({ kind, queue }) => [kind, queue])).toEqual([['expired', 'dead']]);
  });

  it('hears of its queue only, by name or by pattern', async () => {
    const heard: string[] = [];
    const dlx = await start(
      listener({ queue: 'orders' }, ({ queue }) => void heard.push(`name ${queue}`)),
      listener({ queue: /^inv/g }, ({ queue }) => void heard.push(`pattern ${queue}`)),
    );
    for (const queue of ['invoices', 'orders', 'invoices']) await dlx.publish(queue, {});
    await dlx.advance('1s');
    expect(heard.toSorted()).toEqual(['name orders', 'pattern invoices', 'pattern invoices']);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no mail');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no mail'))],
  ])('changes nothing when it %s, and the log says so', async (_, hear) => {
    const lines = linesOf('error');
    const dlx = await start(listener({}, hear));
    await dlx.publish('orders', { id: 1 });
    await dlx.advance('1s');
    expect([dlx.queue('orders').ready, dlx.queue('orders.parked').ready]).toEqual([0, 1]);
    expect(lines()).toEqual(['@OnDeadLetter on Listener.told failed: Error: no mail']);
  });

  it('changes nothing when it hangs: the log says so, and it hears of no more than a thousand at a time', async () => {
    const lines = linesOf('warn');
    let calls = 0;
    const dlx = await start(
      listener({ kinds: ['rejected'] }, () => {
        calls++;
        return new Promise(() => undefined);
      }),
    );
    const { backend } = dlx.app.get(DlxBroker);
    const message = { exchange: '', routingKey: 'invoices', properties: {}, body: Buffer.from('{}') };
    for (let count = 0; count < 1_200; count++) backend.publish(message);
    await dlx.advance('1s');
    expect([calls, dlx.queue('dead').ready]).toEqual([1_000, 1_200]);
    expect(lines()).toEqual([expect.stringMatching(/^@OnDeadLetter on Listener\.told has 1000 calls under way/)]);
    await dlx.advance('1m');
    expect(lines().slice(1)).toEqual([
      '@OnDeadLetter on Listener.told did not end within 60 s; the broker does not wait for it. Further ones of the next 60 s are not logged',
    ]);
    // Calls that hang do not silence it for ever.
    for (let count = 0; count < 5; count++) backend.publish(message);
    await dlx.advance('1s');
    expect(calls).toBe(1_005);
    await dlx.advance('5m');
    expect(lines()).toHaveLength(3);
  });

  it.each<[string, Parameters<typeof OnDeadLetter>[0], RegExp]>([
    ['an unknown option', { queues: 'a' } as never, /@OnDeadLetter on Listener\.told.*queues/],
    [
      'an unknown kind',
      { kinds: ['lost'] } as never,
      /kinds of @OnDeadLetter on Listener\.told.*parked, rejected, expired/,
    ],
    ['a queue that is no text', { queue: 7 } as never, /queue of @OnDeadLetter on Listener\.told/],
    ['an unknown broker', { broker: 'other' }, /@OnDeadLetter on Listener\.told: there is no broker 'other'/],
  ])('is refused at start with %s', async (_, options, text) => {
    await expect(start(listener(options, () => undefined))).rejects.toThrow(text);
  });

  it('is refused in a class that is made anew for each request', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Listener {
      @OnDeadLetter()
      told(): void {}
    }
    await expect(start(Listener)).rejects.toThrow(/@OnDeadLetter on Listener\.told: its class is request-scoped/);
  });
});
