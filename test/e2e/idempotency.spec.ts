import { runInNewContext } from 'node:vm';
import { Injectable, type Type } from '@nestjs/common';
import { Ctx, MessagePattern, Payload } from '@nestjs/microservices';
import {
  Consume,
  DlxBroker,
  DlxClient,
  DlxConfigurationError,
  DlxContext,
  Idempotent,
  MemoryIdempotencyStore,
  Retry,
  RetryLater,
  type IdempotencyStore,
} from 'dlx-broker';
import { DlxTesting } from 'dlx-broker/testing';
import { lastValueFrom } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { contextApp, microservice } from './apps.js';
import { classOf } from '../harnesses/class-of.js';

const opened: DlxTesting[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((dlx) => dlx.close()));
});

interface Payment {
  readonly id: string;
}

async function app(options: Parameters<typeof Idempotent<Payment>>[0], work: (payment: Payment) => unknown) {
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

  it('and has not failed by the wait: no deadline runs and no attempt is used up', async () => {
    const finish: (() => void)[] = [];
    const known: unknown[] = [];
    @Injectable()
    class Payments {
      @Consume('payments')
      @Idempotent()
      @Retry({ attempts: 2, backoff: '1s', deadline: '10s' })
      async pay(_: unknown, @Ctx() { attempt, failingSince, lastError }: DlxContext): Promise<void> {
        known.push({ attempt, failingSince: failingSince?.getTime(), lastError: lastError?.message });
        if (known.length === 1) await new Promise<void>((resolve) => finish.push(resolve));
        throw new Error('down');
      }
    }
    const { dlx } = await started([Payments]);
    for (const name of ['first', 'twin']) await dlx.publish('payments', { name }, { messageId: 'm1' });
    await dlx.advance('30s', { except: ['payments'] }); // the twin waits for longer than the deadline
    const began = dlx.clock.now();
    finish[0]?.();
    await dlx.advance('8s');
    const untried = { attempt: 1, failingSince: undefined, lastError: undefined };
    const failed = { attempt: 2, failingSince: began, lastError: 'down' };
    expect(known.slice(0, 2)).toEqual([untried, untried]);
    expect(known).toContainEqual(failed);
    expect(known).toHaveLength(4);
  });

  it('while a duplicate keeps one of the handlers of its queue busy, and no attempt is used up', async () => {
    const finish: (() => void)[] = [];
    const attempts: number[] = [];
    @Injectable()
    class Payments {
      @Consume({ queue: 'payments', exchange: 'bank', routingKey: 'paid.#' })
      @Idempotent()
      @Retry({ attempts: 2, backoff: '1s' })
      async pay(): Promise<void> {
        await new Promise<void>((resolve) => finish.push(resolve));
      }

      @Consume({ queue: 'payments', exchange: 'bank', routingKey: '#.now' })
      @Retry({ attempts: 2, backoff: '1s' })
      count(_: unknown, @Ctx() { attempt }: DlxContext): void {
        attempts.push(attempt);
      }
    }
    const { dlx, counts } = await started([Payments]);
    const to = { exchange: 'bank', routingKey: 'paid.now' };
    for (const name of ['first', 'twin']) await dlx.publish(to, { name }, { messageId: 'm1' });
    await dlx.advance('30s', { except: ['payments'] });
    expect(counts()).toMatchObject({ retried: 0, parked: 0 });
    finish[0]?.();
    await dlx.advance('1s');
    expect(finish).toHaveLength(1);
    expect(new Set(attempts)).toEqual(new Set([1]));
    expect(counts()).toMatchObject({ acked: 2, retried: 0, parked: 0 });
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

describe('a key that would be the same for different messages', () => {
  const key =
    '@Idempotent on Payments.pay: the key of a message is a string or a number, or null for none, but this one is';
  it.each<[string, unknown, string]>([
    ['undefined', undefined, `${key} undefined: is the name of the field misspelt?`],
    ['an empty string', '', `${key} empty`],
    ['NaN', Number.NaN, `${key} NaN`],
    ['a boolean', true, `${key} a boolean`],
  ])('fails the attempt: %s', async (_, given, text) => {
    const paid: string[] = [];
    const { dlx, publish, counts } = await app({ key: () => given as string }, ({ id }) => void paid.push(id));
    await publish('a', 'm1');
    await publish('b', 'm2');
    await dlx.advance('5s');
    expect(paid).toEqual([]);
    expect(counts()).toMatchObject({ parked: 2, duplicates: 0 });
    const [letter] = dlx.queue('payments.parked').messages();
    expect(letter?.headers['dlx-error-message']).toBe(text);
  });

  it('of an empty message id is none', async () => {
    const paid: string[] = [];
    const { dlx, publish } = await app({}, ({ id }) => void paid.push(id));
    for (const id of ['a', 'b']) await dlx.publish('payments', { id }, { messageId: '' });
    await publish('c', 'm1');
    await dlx.settled();
    expect(paid).toEqual(['a', 'b', 'c']);
  });
});

it('a handler that takes longer than its lease is named once', async () => {
  const lines: string[] = [];
  const keep = (text: unknown): void => void lines.push(String(text));
  const finish: (() => void)[] = [];
  @Injectable()
  class Payments {
    @Consume('payments')
    @Idempotent({ lease: '10s' })
    pay(): Promise<void> {
      return new Promise((resolve) => finish.push(resolve));
    }
  }
  const dlx = new DlxTesting({ logger: { log: () => undefined, warn: keep, error: keep } });
  opened.push(dlx);
  await dlx.start({ providers: [Payments] });
  for (const seconds of [10, 11, 12]) {
    await dlx.publish('payments', { seconds }, { messageId: `m${seconds}` });
    await dlx.advance(`${seconds}s`, { except: ['payments'] });
    finish.shift()?.();
    await dlx.settled();
  }
  expect(lines.filter((line) => line.includes('lease'))).toEqual([
    '@Idempotent on Payments.pay: the handler took 11000 ms, longer than its lease of 10000 ms, so a duplicate of the message may have been handled at the same time; set a longer lease',
  ]);
});

describe('a store', () => {
  it('may answer later, and its failure is the failure of the attempt', async () => {
    const asked: string[] = [];
    let isDown = true;
    const store: IdempotencyStore = {
      claim: async (key): Promise<'claimed' | 'busy' | 'done'> => {
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

/** An application in virtual time with these providers. */
async function started(providers: readonly Type[]) {
  const dlx = new DlxTesting({ logger: false });
  opened.push(dlx);
  await dlx.start({ providers: [...providers] });
  return { dlx, counts: () => dlx.app.get(DlxBroker).counts };
}

/** A handler without a policy, whose key and store are of the test. */
async function unaided(
  options: Parameters<typeof Idempotent<never>>[0],
  work: () => unknown = () => undefined,
  queue = 'payments',
) {
  @Injectable()
  class Payments {
    @Consume(queue)
    @Idempotent(options)
    pay(): unknown {
      return work();
    }
  }
  const dlx = new DlxTesting({ logger: false });
  opened.push(dlx);
  // Longer than a case may take: an application that waits for a handler at its end would fail the case.
  await dlx.start({ providers: [Payments] }, { drainTimeout: '1h' });
  return { dlx, counts: () => dlx.app.get(DlxBroker).counts };
}

describe('a store that cannot be asked', () => {
  const down = (failing: readonly string[]): IdempotencyStore => {
    const memory = new MemoryIdempotencyStore();
    const ask = <T>(name: string, answer: () => T): T => {
      if (failing.includes(name)) throw new Error(`no ${name}`);
      return answer();
    };
    return {
      claim: async (...claim) => ask('claim', () => memory.claim(...claim)),
      done: async (...done) => ask('done', () => memory.done(...done)),
      release: async (...release) => ask('release', () => memory.release(...release)),
    };
  };

  it('loses nothing where no policy says what to do: it comes again until the store answers', async () => {
    const failing = ['claim'];
    let handled = 0;
    const { dlx, counts } = await unaided({ store: down(failing) }, () => void handled++);
    await dlx.publish('payments', { id: 'a' }, { messageId: 'm1' });
    await dlx.advance('1m');
    expect(handled).toBe(0);
    expect(counts()).toMatchObject({ rejected: 0, retried: 61 });
    expect(String(dlx.timeline)).toContain(
      'again in 1000 ms, RetryLater: @Idempotent on Payments.pay: its store cannot be asked: no claim',
    );
    failing.pop();
    await dlx.advance('1s');
    expect(handled).toBe(1);
    dlx.expectQueue('payments').toBeEmpty();
  });

  it('says so in the dead letter where a policy gives up', async () => {
    const { dlx, publish } = await app({ store: down(['claim']) }, () => undefined);
    await publish('a', 'm1');
    await dlx.advance('2s');
    expect(dlx.deadLetters('payments.parked')[0]?.error).toMatchObject({
      name: 'IdempotencyStoreError',
      message: '@Idempotent on Payments.pay: its store cannot be asked: no claim',
    });
  });

  it('does not make a success a failure: it would be done twice for certain', async () => {
    let handled = 0;
    const { dlx, counts } = await unaided({ store: down(['done']) }, () => void handled++);
    await dlx.publish('payments', { id: 'a' }, { messageId: 'm1' });
    await dlx.advance('1h');
    expect(handled).toBe(1);
    expect(counts()).toMatchObject({ acked: 1, retried: 0 });
  });

  it('and cannot take a claim back, makes a retry wait for the lease', async () => {
    let attempts = 0;
    const work = (): void => {
      if (++attempts < 2) throw new RetryLater('1s');
    };
    const memory = new MemoryIdempotencyStore(() => clock.now());
    const store: IdempotencyStore = {
      claim: (...claim) => memory.claim(...claim),
      done: (...done) => memory.done(...done),
      release: () => Promise.reject(new Error('no release')),
    };
    const { dlx } = await unaided({ store, lease: '10s' }, work);
    const { clock } = dlx;
    await dlx.publish('payments', { id: 'a' }, { messageId: 'm1' });
    await dlx.advance('9s');
    expect(attempts).toBe(1);
    await dlx.advance('1s');
    expect(attempts).toBe(2);
  });
});

describe('a key', () => {
  it('that is null is none', async () => {
    let handled = 0;
    const { dlx } = await unaided({ key: () => null as unknown as string }, () => void handled++);
    for (let count = 0; count < 2; count++) await dlx.publish('payments', {});
    await dlx.settled();
    expect(handled).toBe(2);
  });

  it.each([
    ['an object', () => ({}) as unknown as string],
    [
      'an error of the function',
      () => {
        throw new Error('no such field');
      },
    ],
  ])('that is %s fails the attempt, and does not keep the application from closing', async (_, key) => {
    const { dlx, counts } = await unaided({ key });
    await dlx.publish('payments', {});
    await dlx.settled();
    expect(counts()).toMatchObject({ rejected: 1, undecodable: 0, acked: 0 });
    await dlx.close();
  });

  it('of one queue is not the same key of another, however they are called', async () => {
    const asked: string[] = [];
    const store: IdempotencyStore = {
      claim: (key) => (asked.push(key), 'claimed'),
      done: () => undefined,
      release: () => undefined,
    };
    const one = await unaided({ store, key: () => 'b:c' }, undefined, 'a');
    await one.dlx.publish('a', {});
    const other = await unaided({ store, key: () => 'c' }, undefined, 'a:b');
    await other.dlx.publish('a:b', {});
    await other.dlx.settled();
    expect(new Set(asked).size).toBe(2);
  });

  it('is claimed under a name of its own each time, and given back under the same', async () => {
    const claims: string[] = [];
    const released: string[] = [];
    const store: IdempotencyStore = {
      claim: (_key, _lease, owner) => (claims.push(owner), 'claimed'),
      done: () => undefined,
      release: (_key, owner) => void released.push(owner),
    };
    const { dlx, publish } = await app({ store }, () => {
      throw new Error('down');
    });
    await publish('a', 'm1');
    await dlx.advance('1h');
    expect(new Set(claims).size).toBe(3);
    expect(released).toEqual(claims);
  });
});

it('a store may answer by a promise of another realm, as in jest', async () => {
  let handled = 0;
  const foreign = runInNewContext('Promise') as PromiseConstructor;
  const soon = <T>(value: T): Promise<T> => foreign.resolve(value);
  const store: IdempotencyStore = {
    claim: () => soon('claimed'),
    done: () => soon(undefined),
    release: () => soon(undefined),
  };
  const { dlx, counts } = await unaided({ store, key: () => 'k' }, () => void handled++);
  await dlx.publish('payments', {});
  await dlx.settled();
  expect(handled).toBe(1);
  expect(counts()).toMatchObject({ acked: 1 });
});

it.each(['ttl', 'lease'])('no time at all is refused: %s', async (option) => {
  await expect(unaided({ [option]: 0 })).rejects.toThrow(
    `${option} of @Idempotent on Payments.pay: 0 is no time at all; nothing would be remembered`,
  );
});

describe('every message of a client has an id', () => {
  it('of its own, unless the record says one', async () => {
    const ids: unknown[] = [];
    const Listener = classOf('Listener', { hear: [Consume({ queue: 'all', routingKey: 'order.*' })] });
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
