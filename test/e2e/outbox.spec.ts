import { Controller, Injectable, type Type } from '@nestjs/common';
import { Ctx, MessagePattern, Payload, RpcException } from '@nestjs/microservices';
import {
  Consume,
  DlxBroker,
  DlxClient,
  DlxContext,
  DlxRecordBuilder,
  Drop,
  event,
  Idempotent,
  type IdempotencyStore,
  MemoryIdempotencyStore,
  Outbox,
  OutboxClosedError,
  Park,
  Reject,
  Retry,
  RetryLater,
} from 'dlx-broker';
import { DlxTesting, type DlxTestingCreateOptions } from 'dlx-broker/testing';
import { concat, defer, from, ignoreElements, lastValueFrom, of } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { schemaBy } from '../harnesses/schemas.js';

type OutboxOptions = Exclude<Parameters<typeof Outbox>[0], boolean | undefined>;

const opened: DlxTesting[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((dlx) => dlx.close()));
});

type TransportOptions = NonNullable<DlxTestingCreateOptions['transport']>;

interface Job {
  readonly id: string;
}

type Work = (client: DlxClient, context: DlxContext, job: Job) => unknown;

/** What an audit queue gets of all events, and queues that refuse. */
const topology: NonNullable<TransportOptions['topology']> = {
  queues: [
    'events',
    'other',
    { name: 'narrow', maxLength: 1, overflow: 'reject-publish' },
    { name: 'full', maxLength: 0, overflow: 'reject-publish' },
  ],
  bindings: [{ source: 'dlx.events', destination: 'events', routingKey: 'out.#' }],
};

/** An application with a handler of queue `jobs` that has an outbox. */
async function app(
  work: Work,
  { options = true, transport = {} }: { options?: boolean | OutboxOptions; transport?: TransportOptions } = {},
) {
  @Injectable()
  class Jobs {
    constructor(private readonly client: DlxClient) {}

    @Consume('jobs')
    @Outbox(options)
    @Retry({ attempts: 2, backoff: '1m', timeout: '30s' })
    run(@Payload() job: Job, @Ctx() context: DlxContext): unknown {
      return work(this.client, context, job);
    }
  }
  return start([Jobs], transport);
}

async function start(providers: readonly Type[], transport: TransportOptions = {}, controllers: Type[] = []) {
  const dlx = await DlxTesting.create(
    { providers: [...providers], controllers },
    { logger: false, transport: { topology, ...transport } },
  );
  opened.push(dlx);
  const put = (id: string) => dlx.publish('jobs', { id }, { messageId: id });
  const give = async (id: string): Promise<void> => {
    await put(id);
    await dlx.settled();
  };
  const event = async (routingKey: string): Promise<void> => {
    await dlx.publish({ exchange: 'dlx.events', routingKey }, 1, { messageId: 'm' });
    await dlx.settled();
  };
  const keys = (queue = 'events'): string[] =>
    dlx
      .queue(queue)
      .messages()
      .map(({ routingKey }) => routingKey);
  const ids = (queue = 'events') =>
    dlx
      .queue(queue)
      .messages()
      .map(({ properties }) => properties.messageId);
  return { dlx, give, put, event, keys, ids, counts: () => dlx.app.get(DlxBroker).counts };
}

/** Emits to the default exchange, and so to a queue. */
const toQueue = (data: unknown) => new DlxRecordBuilder(data).setExchange('').setMandatory(true).build();

describe('a handler with an outbox that succeeds', () => {
  it('publishes what it emitted with the ack: in order, with its delays, and not before', async () => {
    const seen: unknown[] = [];
    const { dlx, give, keys, ids } = await app(async (client, context) => {
      await lastValueFrom(client.emit('out.one', 1), { defaultValue: undefined });
      client.emit('out.late', 2, { delay: '10m' });
      client.emit('out.two', '333');
      seen.push(keys(), context.outbox?.count, context.outbox?.bytes);
    });
    await give('a');
    expect(seen).toEqual([[], 3, 1 + 1 + 5]);
    expect(keys()).toEqual(['out.one', 'out.two']);
    await dlx.advance('10m');
    expect(keys()).toEqual(['out.one', 'out.two', 'out.late']);
    expect(dlx.queue('jobs').unacknowledged).toBe(0);
    const [one, two, late] = ids();
    expect([one, late, two].map((id) => /^a\.[\w-]{6}\.(\d)$/.exec(id!)?.[1])).toEqual(['1', '2', '3']);
  });

  it('keeps the ids that it gives, and counts the others', async () => {
    const { give, ids } = await app((client) => {
      client.emit('out.one', 1, { messageId: 'mine' });
      client.emit('out.two', new DlxRecordBuilder(2).setMessageId('own').build());
      client.emit('out.three', 3);
    });
    await give('a');
    expect(ids()).toEqual(['mine', 'own', expect.stringMatching(/^a\..{6}\.3$/)]);
  });

  it('publishes at once what it emits with { outbox: false }', async () => {
    const { give, keys, dlx } = await app((client) => {
      client.emit('out.now', 1, { outbox: false });
      client.emit('out.never', 2);
      throw new Park('no');
    });
    await give('a');
    expect([keys(), dlx.queue('jobs.parked').ready]).toEqual([['out.now'], 1]);
  });

  it('also when a request is answered: the last reply goes with the events, earlier ones at once', async () => {
    @Controller()
    class Requests {
      constructor(private readonly client: DlxClient) {}
      @MessagePattern('price')
      @Outbox()
      price(@Payload() fails: boolean): unknown {
        const last = defer(() => {
          this.client.emit('out.asked', 1);
          if (fails) throw new RpcException('no price');
          return of('last');
        });
        return concat(of('first'), from(new Promise((resolve) => setImmediate(resolve))).pipe(ignoreElements()), last);
      }
    }
    const { dlx, keys } = await start([], {}, [Requests]);
    const asked = (fails: boolean) => {
      const seen: unknown[] = [];
      const note = (value: unknown): void => void seen.push([value, keys()]);
      return new Promise<unknown[]>((resolve) =>
        dlx.app
          .get(DlxClient)
          .send('price', fails)
          .subscribe({
            next: note,
            error: (error: unknown) => resolve([...seen, error]),
            complete: () => resolve(seen),
          }),
      );
    };
    expect(await asked(true)).toMatchObject([['first', []], { message: 'no price' }]);
    expect(keys()).toEqual([]);
    expect(await asked(false)).toEqual([
      ['first', []],
      ['last', ['out.asked']],
    ]);
  });

  it('also a stream, whose values emit', async () => {
    const { give, keys } = await app((client) =>
      concat(
        of(1),
        defer(() => client.emit('out.streamed', 1)),
      ),
    );
    await give('a');
    expect(keys()).toEqual(['out.streamed']);
  });
});

describe('a handler with an outbox that does not succeed drops what it emitted', () => {
  const emitThree = (client: DlxClient): void => {
    client.emit('out.one', 1);
    client.emit('out.late', 2, { delay: '1h' });
    client.emit('out.three', 3);
  };

  it.each<[string, () => Error]>([
    ['an error', () => new Error('no')],
    ['Park', () => new Park('no')],
    ['RetryLater', () => new RetryLater('1s')],
    ['Reject', () => new Reject('no')],
    ['Drop', () => new Drop('no')],
  ])('by %s: nothing is anywhere, days later', async (_, error) => {
    const { dlx, give, keys } = await app((client) => {
      emitThree(client);
      throw error();
    });
    await give('a');
    await dlx.advance('2d');
    expect(keys()).toEqual([]);
  });

  it('and publishes once what its second attempt emits, with the same ids', async () => {
    let attempts = 0;
    const made: (string | undefined)[][] = [];
    const { dlx, give, keys, ids } = await app((client, { message }) => {
      emitThree(client);
      made.push([message.own.messageId]);
      if (++attempts === 1) throw new Error('last line');
    });
    await give('a');
    expect(keys()).toEqual([]);
    await dlx.advance('2d');
    expect([attempts, made]).toEqual([2, [['a'], ['a']]]);
    expect(keys()).toEqual(['out.one', 'out.three', 'out.late']);
    expect(ids().map((id) => id!.slice(-2))).toEqual(['.1', '.3', '.2']);
  });

  it.each<[string, (client: DlxClient) => void, string]>([
    ['is mandatory, and no queue gets it', (client) => client.emit('nowhere', toQueue(3)), 'UnroutableError: NO_ROUTE'],
    [
      'goes to an exchange that is not there',
      (client) => client.emit('k', new DlxRecordBuilder(3).setExchange('gone').build()),
      "no exchange 'gone'",
    ],
    ['goes to a full queue', (client) => client.emit('full', toQueue(3)), 'RefusedError'],
    [
      'goes to a queue that an earlier one has filled',
      (client) => {
        client.emit('narrow', toQueue(2));
        client.emit('narrow', toQueue(3));
      },
      'RefusedError',
    ],
    [
      'cannot be written, and the failure was not looked at',
      (client) => {
        const cycle: { self?: unknown } = {};
        cycle.self = cycle;
        client.emit('out.cycle', cycle);
      },
      'circular',
    ],
    [
      'is delayed to an exchange that is not there',
      (client) => client.emit('k', new DlxRecordBuilder(3).setExchange('gone').build(), { delay: '1s' }),
      "no exchange 'gone'",
    ],
  ])('because an event %s: the attempt fails with that error', async (_, emit, text) => {
    const { dlx, give, keys, counts } = await app((client) => {
      client.emit('out.one', 1);
      client.emit('out.two', 2);
      emit(client);
    });
    await give('a');
    expect([keys(), keys('narrow'), counts().retried]).toEqual([[], [], 1]);
    await dlx.advance('1m');
    expect([keys(), keys('narrow')]).toEqual([[], []]);
    const [parked] = dlx.queue('jobs.parked').messages();
    expect(`${parked?.headers['dlx-error-class']}: ${parked?.headers['dlx-error-message']}`).toContain(text);
  });

  it('unless it handles the failure of the event itself', async () => {
    const { give, keys } = await app(async (client) => {
      client.emit('out.one', 1);
      const cycle: { self?: unknown } = {};
      cycle.self = cycle;
      await expect(lastValueFrom(client.emit('out.cycle', cycle))).rejects.toThrow('circular');
    });
    await give('a');
    expect(keys()).toEqual(['out.one']);
  });

  it.each<[OutboxOptions, string]>([
    [{ messages: 2 }, 'at most 2 messages of 16000000 bytes'],
    [{ bytes: 4 }, 'at most 1000 messages of 4 bytes'],
    [{ bytes: '4b' }, 'at most 1000 messages of 4 bytes'],
  ])('because it emits more than %j', async (options, text) => {
    const { give, keys, dlx } = await app(
      (client) => {
        for (const value of ['a', 1, 'b']) client.emit('out.x', value);
      },
      { options },
    );
    await give('a');
    await dlx.advance('1m');
    expect(keys()).toEqual([]);
    expect(dlx.queue('jobs.parked').messages()[0]?.headers['dlx-error-message']).toContain(text);
  });

  it('because its time is over; what it emits afterwards fails', async () => {
    const late: unknown[] = [];
    let goOn = (): void => undefined;
    const { dlx, put, keys } = await app(async (client) => {
      client.emit('out.one', 1);
      await new Promise<void>((resolve) => (goOn = resolve));
      await lastValueFrom(client.emit('out.late', 2)).catch((error: unknown) => late.push(error));
    });
    await put('a');
    await expect.poll(() => dlx.queue('jobs').unacknowledged).toBe(1);
    dlx.clock.advance(30_000);
    goOn();
    await expect.poll(() => late).toHaveLength(1);
    expect(late[0]).toBeInstanceOf(OutboxClosedError);
    expect(String(late[0])).toContain('Jobs.run');
    expect(keys()).toEqual([]);
  });

  it('and what an attempt emits that was not awaited', async () => {
    const late: unknown[] = [];
    let goOn = (): void => undefined;
    const { give, keys } = await app((client) => {
      client.emit('out.one', 1);
      void new Promise<void>((resolve) => (goOn = resolve)).then(() =>
        client.emit('out.late', 2).subscribe({ error: (error: unknown) => late.push(error) }),
      );
    });
    await give('a');
    goOn();
    await expect.poll(() => late).toHaveLength(1);
    expect([late[0], keys()]).toEqual([expect.any(OutboxClosedError), ['out.one']]);
  });

  it('because the application shuts down before it ends', async () => {
    let goOn = (): void => undefined;
    const { dlx, put, keys } = await app(
      async (client) => {
        client.emit('out.one', 1);
        await new Promise<void>((resolve) => (goOn = resolve));
        client.emit('out.two', 2);
      },
      { transport: { drainTimeout: 0 } },
    );
    await put('a');
    await expect.poll(() => dlx.queue('jobs').unacknowledged).toBe(1);
    await dlx.app.close();
    goOn();
    await new Promise((resolve) => setImmediate(resolve));
    expect([keys(), dlx.queue('jobs').ready]).toEqual([[], 1]);
  });
});

describe('a handler with an outbox that settles its message by hand', () => {
  it('publishes with ack() what is there, and nothing later', async () => {
    const late: unknown[] = [];
    const { give, keys, counts } = await app((client, context) => {
      client.emit('out.one', 1);
      context.ack();
      late.push([keys(), context.isSettled]);
      client.emit('out.two', 2).subscribe({ error: (error: unknown) => late.push(error) });
    });
    await give('a');
    await expect.poll(() => late).toHaveLength(2);
    expect(late).toEqual([[['out.one'], true], expect.any(OutboxClosedError)]);
    expect([keys(), counts().byHand, counts().acked]).toEqual([['out.one'], 1, 0]);
  });

  it('fails when the commit of ack() fails, and a second ack() loses nothing', async () => {
    const { dlx, give, keys, counts } = await app((client, context) => {
      client.emit('out.one', 1);
      client.emit('nowhere', toQueue(2));
      context.ack();
      context.ack();
    });
    await give('a');
    expect([keys(), counts().retried, counts().byHand]).toEqual([[], 1, 0]);
    await dlx.advance('1m');
    expect(dlx.queue('jobs.parked').ready).toBe(1);
  });

  it.each(['reject', 'requeue'] as const)('drops what it emitted with %s()', async (how) => {
    let calls = 0;
    const { dlx, give, keys } = await app((client, context) => {
      if (++calls > 1) return;
      client.emit('out.one', 1);
      context[how]();
    });
    await give('a');
    await dlx.advance('1m');
    expect([keys(), calls]).toEqual([[], how === 'reject' ? 1 : 2]);
  });
});

describe('outboxes of several handlers', () => {
  it('of one event in several queues have different ids: a common consumer loses none of them', async () => {
    const seen: unknown[] = [];
    @Injectable()
    class Handlers {
      constructor(private readonly client: DlxClient) {}
      @Consume({ queue: 'billing', routingKey: 'order' })
      @Outbox()
      bill(): void {
        this.client.emit('done.billed', 'billed');
      }
      @Consume({ queue: 'shipping', routingKey: 'order' })
      @Outbox()
      ship(): void {
        this.client.emit('done.shipped', 'shipped');
      }
      @Consume({ queue: 'audit', routingKey: 'done.*' })
      @Idempotent()
      audit(@Payload() what: string): void {
        seen.push(what);
      }
    }
    const { event } = await start([Handlers]);
    await event('order');
    expect(seen.toSorted()).toEqual(['billed', 'shipped']);
  });

  /** Two handlers of one message of one queue. */
  async function shared(fails: () => boolean, store: IdempotencyStore = new MemoryIdempotencyStore()) {
    const calls: string[] = [];
    @Injectable()
    class Handlers {
      constructor(private readonly client: DlxClient) {}
      @Consume({ queue: 'jobs', routingKey: 'job.#' })
      @Outbox()
      @Idempotent({ store, key: (_, { message }) => `first ${message.own.messageId}` })
      @Retry({ attempts: 5, backoff: '1s' })
      first(): void {
        calls.push('first');
        this.client.emit('out.first', 1);
      }
      @Consume({ queue: 'jobs', routingKey: 'job.*' })
      @Outbox()
      @Idempotent({ store, key: (_, { message }) => `second ${message.own.messageId}` })
      @Retry({ attempts: 5, backoff: '1s' })
      second(): void {
        calls.push('second');
        this.client.emit('out.second', 2);
        if (fails()) throw new Error('not yet');
      }
    }
    return { ...(await start([Handlers])), calls };
  }

  it('of one message of one queue are one commit', async () => {
    const { dlx, event, keys, calls } = await shared(() => false);
    await event('job.a');
    expect([keys(), calls, dlx.queue('jobs').unacknowledged]).toEqual([
      ['out.first', 'out.second'],
      ['first', 'second'],
      0,
    ]);
  });

  it('of one message of one queue are dropped together, and none is remembered as done', async () => {
    let isDown = true;
    const { dlx, event, keys, calls } = await shared(() => isDown);
    await event('job.a');
    expect([keys(), calls]).toEqual([[], ['first', 'second']]);
    isDown = false;
    await dlx.advance('1s');
    expect([keys(), calls]).toEqual([
      ['out.first', 'out.second'],
      ['first', 'second', 'first', 'second'],
    ]);
  });

  const says: readonly (readonly [string, readonly string[], () => 'done' | 'busy'])[] = [
    ['done', ['out.second'], () => 'done'],
    ['busy', [], () => 'busy'],
    [
      'an error',
      [],
      () => {
        throw new Error('away');
      },
    ],
  ];

  it.each(says)(
    'of one message of one queue end together if the store answers for one of them first: %s',
    async (_, published, claim): Promise<void> => {
      const memory = new MemoryIdempotencyStore();
      const store: IdempotencyStore = {
        claim: async (key, lease, owner) => {
          if (key.includes('first')) return claim();
          await new Promise(setImmediate);
          return memory.claim(key, lease, owner);
        },
        done: (key, ttl) => memory.done(key, ttl),
        release: (key, owner) => memory.release(key, owner),
      };
      const { dlx, event, keys, calls } = await shared(() => false, store);
      await event('job.a');
      expect([keys(), calls, dlx.queue('jobs').unacknowledged]).toEqual([published, ['second'], 0]);
    },
  );

  it('of one message of one queue: ack() publishes all, also when another handler fails while the commit waits', async () => {
    let failed = (): void => undefined;
    const hasFailed = new Promise<void>((resolve) => (failed = resolve));
    const schema = schemaBy<number>(async (value) => {
      await hasFailed;
      return { value: value as number };
    });
    const made = event<number>('out.first', { schema });
    @Injectable()
    class Handlers {
      constructor(private readonly client: DlxClient) {}
      @Consume({ queue: 'jobs', routingKey: 'job.#' })
      @Outbox()
      first(@Ctx() context: DlxContext): void {
        this.client.emit('out.now', 0);
        this.client.emit(made, 1);
        context.ack();
      }
      @Consume({ queue: 'jobs', routingKey: 'job.*' })
      @Outbox()
      second(): void {
        setImmediate(failed); // when the attempt has ended
        throw new Error('too late');
      }
    }
    const { dlx, event: put, keys } = await start([Handlers]);
    await put('job.a');
    await hasFailed;
    await dlx.settled();
    expect([keys(), dlx.queue('jobs').ready, dlx.queue('jobs').unacknowledged]).toEqual([
      ['out.now', 'out.first'],
      0,
      0,
    ]);
  });
});

describe('a handler with an outbox that handles each message once', () => {
  it('remembers a message after its commit, and forgets one whose commit failed', async () => {
    const log: string[] = [];
    const memory = new MemoryIdempotencyStore();
    const store = {
      claim: memory.claim.bind(memory),
      done: (key: string, ttl: number) => {
        log.push(`done, ${count()} out`);
        memory.done(key, ttl);
      },
      release: (key: string, owner: string) => {
        log.push(`released, ${count()} out`);
        memory.release(key, owner);
      },
    };
    let isDown = true;
    @Injectable()
    class Jobs {
      constructor(private readonly client: DlxClient) {}
      @Consume('jobs')
      @Outbox()
      @Idempotent({ store })
      @Retry({ attempts: 3, backoff: '1s' })
      run(): void {
        this.client.emit('out.one', 1);
        if (isDown) this.client.emit('nowhere', toQueue(2));
      }
    }
    const { dlx, give, counts } = await start([Jobs]);
    const count = (): number => dlx.queue('events').ready;
    await give('a');
    isDown = false;
    await dlx.advance('1s');
    await give('a');
    expect(log).toEqual(['released, 0 out', 'done, 1 out']);
    expect(counts()).toMatchObject({ retried: 1, acked: 1, duplicates: 1 });
  });
});

describe('option outbox of the module', () => {
  it('gives an outbox to every handler but those that want none', async () => {
    @Injectable()
    class Handlers {
      constructor(private readonly client: DlxClient) {}
      @Consume('jobs')
      with(@Ctx() context: DlxContext): never {
        this.client.emit('out.with', context.outbox?.count);
        throw new Error('no');
      }
      @Consume('other-jobs')
      @Outbox(false)
      without(@Ctx() context: DlxContext): never {
        this.client.emit('out.without', context.outbox ?? 'none');
        throw new Error('no');
      }
    }
    const { dlx, keys } = await start([Handlers], { outbox: { messages: 5 } });
    await dlx.publish('jobs', 1);
    await dlx.publish('other-jobs', 1);
    await dlx.settled();
    expect(keys()).toEqual(['out.without']);
  });

  it.each<[unknown, string]>([
    [{ messages: 0 }, 'messages'],
    [{ bytes: 0 }, 'bytes'],
    [{ bytes: '0mb' }, 'bytes'],
    [{ bytes: 'much' }, 'bytes'],
    [{ size: 1 }, 'size'],
    ['yes', 'outbox'],
  ])('is refused as %j, and so is @Outbox', async (value, text) => {
    await expect(start([], { outbox: value as boolean })).rejects.toThrow(text);
    await expect(app(() => undefined, { options: value as boolean })).rejects.toThrow(/@Outbox on Jobs.run/);
  });
});
