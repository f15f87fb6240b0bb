import { Injectable } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import {
  Consume,
  DlxBroker,
  DlxClient,
  DlxConfigurationError,
  Idempotent,
  Retry,
  type Claim,
  type IdempotencyStore,
  type IdempotentOptions,
} from 'dlx-broker';
import { DlxTesting } from 'dlx-broker/testing';
import { lastValueFrom } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { contextApp, microservice } from './apps.js';

const opened: DlxTesting[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((dlx) => dlx.close()));
});

interface Payment {
  readonly id: string;
}

async function app(options: IdempotentOptions<Payment>, work: (payment: Payment) => unknown) {
  @Injectable()
  class Payments {
    @Consume('payments')
    @Idempotent(options)
    @Retry({ attempts: 3, backoff: '1s' })
    pay(@Payload() payment: Payment): unknown {
      return work(payment);
    }
  }
  const dlx = new DlxTesting({ logger: false });
  opened.push(dlx);
  await dlx.start({ providers: [Payments] });
  const publish = (id: string, messageId?: string) => dlx.publish('payments', { id }, messageId ? { messageId } : {});
  return { dlx, publish, counts: () => dlx.app.get(DlxBroker).counts };
}

describe('a message is handled once', () => {
  it('by its message id', async () => {
    const paid: string[] = [];
    const { dlx, publish, counts } = await app({}, ({ id }) => void paid.push(id));
    await publish('a', 'm1');
    await publish('b', 'm1');
    await publish('c', 'm2');
    await dlx.advance('1s'); // the twin waited until it was clear that the first succeeds
    expect(paid).toEqual(['a', 'c']);
    expect(counts()).toMatchObject({ acked: 2, duplicates: 1 });
  });

  it('by a key of its own, until that is forgotten', async () => {
    const paid: string[] = [];
    const { dlx, publish } = await app({ key: ({ id }) => id, ttl: '1h' }, ({ id }) => void paid.push(id));
    await publish('a', 'm1');
    await publish('a', 'm2');
    await dlx.advance('59m');
    await publish('a', 'm3');
    await dlx.settled();
    expect(paid).toEqual(['a']);
    await dlx.advance('1m');
    await publish('a', 'm4');
    await dlx.settled();
    expect(paid).toEqual(['a', 'a']);
  });

  it('though it fails before it succeeds: a retry is no duplicate', async () => {
    let attempts = 0;
    const { dlx, publish, counts } = await app({}, () => {
      if (++attempts < 3) throw new Error('down');
    });
    await publish('a', 'm1');
    await dlx.advance('2s');
    expect(counts()).toMatchObject({ retried: 2, acked: 1, duplicates: 0 });
  });

  it('while its twin is being handled it waits', async () => {
    const finish: (() => void)[] = [];
    const { dlx, publish, counts } = await app({}, () => new Promise<void>((resolve) => finish.push(resolve)));
    await publish('a', 'm1');
    await publish('a', 'm1');
    await dlx.advance('3s', { except: ['payments'] });
    expect(finish).toHaveLength(1);
    finish[0]?.();
    await dlx.advance('1s');
    expect(counts()).toMatchObject({ acked: 1, duplicates: 1 });
  });

  it('and one without a key whenever it comes', async () => {
    const paid: string[] = [];
    const { dlx, publish } = await app({}, ({ id }) => void paid.push(id));
    await publish('a');
    await publish('a');
    await dlx.settled();
    expect(paid).toEqual(['a', 'a']);
  });
});

describe('a store', () => {
  it('may answer later, and its failure is the failure of the attempt', async () => {
    const asked: string[] = [];
    let isDown = true;
    const store: IdempotencyStore = {
      claim: async (key): Promise<Claim> => {
        asked.push(key);
        if (isDown) throw new Error('no connection');
        return 'claimed';
      },
      done: async () => undefined,
      release: async () => undefined,
    };
    const paid: string[] = [];
    const { dlx, publish, counts } = await app({ store }, ({ id }) => void paid.push(id));
    await publish('a', 'm1');
    await dlx.settled();
    expect(paid).toEqual([]);
    isDown = false;
    await dlx.advance('1s');
    expect(paid).toEqual(['a']);
    expect(asked).toEqual(['payments:m1', 'payments:m1']);
    expect(counts()).toMatchObject({ retried: 1, acked: 1 });
  });
});

describe('every message of a client has an id', () => {
  it('of its own, unless the record says one', async () => {
    const ids: unknown[] = [];
    @Injectable()
    class Listener {
      @Consume({ queue: 'all', routingKey: 'order.*' })
      hear(): void {}
    }
    const application = await contextApp({ providers: [Listener] });
    application.get(DlxBroker).events.subscribe(({ kind, messageId }) => kind === 'acked' && ids.push(messageId));
    const client = application.get(DlxClient);
    for (const key of ['order.a', 'order.b']) await lastValueFrom(client.emit(key, {}), { defaultValue: undefined });
    await new Promise((resolve) => setImmediate(resolve));
    expect(new Set(ids).size).toBe(2);
    expect(ids.every((id) => typeof id === 'string' && id.length > 8)).toBe(true);
  });
});

it('a request cannot be idempotent: it wants an answer each time', async () => {
  @Injectable()
  class Asked {
    @MessagePattern('ask')
    @Idempotent()
    answer(): number {
      return 1;
    }
  }
  await expect(microservice({ controllers: [Asked] })).rejects.toThrow(DlxConfigurationError);
});
