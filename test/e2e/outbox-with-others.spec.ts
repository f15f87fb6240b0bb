import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable, type Type } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { SpanStatusCode } from '@opentelemetry/api';
import {
  Circuit,
  Consume,
  DlxBroker,
  DlxClient,
  DlxContext,
  event,
  Ordered,
  Outbox,
  Retry,
  Unavailable,
} from 'dlx-broker';
import { dlxTracing } from 'dlx-broker/otel';
import { DlxTesting, type TransportOptions } from 'dlx-broker/testing';
import { expect, it } from 'vitest';
import { endsAfterEach } from '../harnesses/ends.js';
import { schemaBy } from '../harnesses/schemas.js';
import { registerTracing, spans } from '../harnesses/traces.js';

registerTracing();
const ends = endsAfterEach();

const topology: NonNullable<TransportOptions['topology']> = {
  queues: ['events'],
  bindings: [{ source: 'dlx.events', destination: 'events', routingKey: 'out.#' }],
};

async function start(provider: Type, transport: TransportOptions = {}) {
  const dlx = await DlxTesting.create(
    { providers: [provider] },
    { logger: false, transport: { topology, ...transport } },
  );
  ends.push(() => dlx.close());
  const keys = (): string[] =>
    dlx
      .queue('events')
      .messages()
      .map(({ routingKey }) => routingKey);
  const ids = () =>
    dlx
      .queue('events')
      .messages()
      .map(({ properties }) => properties.messageId);
  const give = async (data: unknown, messageId: string): Promise<void> => {
    await dlx.publish('jobs', data, { messageId });
    await dlx.settled();
  };
  return { dlx, keys, ids, give };
}

it('order per key: each attempt in hand has an outbox of its own', async () => {
  @Injectable()
  class Jobs {
    constructor(private readonly client: DlxClient) {}
    @Consume('jobs')
    @Ordered({ key: (job: string) => job.slice(0, 1) })
    @Outbox()
    @Retry({ attempts: 3, backoff: '1m' })
    run(@Payload() job: string, @Ctx() { attempt }: DlxContext): void {
      this.client.emit(`out.${job}`, attempt);
      if (job === 'a1' && attempt === 1) throw new Error('not yet');
    }
  }
  const { dlx, keys, ids } = await start(Jobs);
  for (const job of ['a1', 'a2', 'b1']) await dlx.publish('jobs', job, { messageId: job });
  await dlx.advance(0);
  expect(keys()).toEqual(['out.b1']);
  await dlx.advance('1m');
  expect(keys()).toEqual(['out.b1', 'out.a1', 'out.a2']);
  expect(ids().map((id) => id!.slice(0, 2))).toEqual(['b1', 'a1', 'a2']);
});

it('a circuit: what a held message emitted is dropped', async () => {
  let isDown = true;
  @Injectable()
  class Jobs {
    constructor(private readonly client: DlxClient) {}
    @Consume('jobs')
    @Circuit({ pause: '1m' })
    @Outbox()
    @Retry({ attempts: 2, backoff: '1s' })
    run(): void {
      this.client.emit('out.paid', 1);
      if (isDown) throw new Unavailable('the bank is down');
    }
  }
  const { dlx, keys, give } = await start(Jobs);
  await give(1, 'a');
  await dlx.advance('30s');
  expect(keys()).toEqual([]);
  isDown = false;
  await dlx.advance('10m');
  expect(keys()).toEqual(['out.paid']);
});

it('contracts: the commit waits for a schema, and fails with it', async () => {
  const positive = schemaBy<number>(async (value) =>
    (value as number) > 0 ? { value: value as number } : { issues: [{ message: 'is not positive' }] },
  );
  const paid = event<number>('out.paid', { schema: positive });
  @Injectable()
  class Jobs {
    constructor(private readonly client: DlxClient) {}
    @Consume('jobs')
    @Outbox()
    run(@Payload() amount: number): void {
      this.client.emit('out.first', 1);
      this.client.emit(paid, amount);
    }
  }
  const { dlx, keys, give } = await start(Jobs);
  await give(3, 'a');
  expect(keys()).toEqual(['out.first', 'out.paid']);
  await give(-3, 'b');
  expect(keys()).toEqual(['out.first', 'out.paid']);
  expect(dlx.app.get(DlxBroker).counts).toMatchObject({ acked: 1, rejected: 1 });
});

it('tracing: the span of an event ends with its commit, or with an error when it is dropped', async () => {
  @Injectable()
  class Jobs {
    constructor(private readonly client: DlxClient) {}
    @Consume('jobs')
    @Outbox()
    run(@Payload() fails: boolean): void {
      this.client.emit('out.one', 1);
      if (fails) throw new Error('no');
    }
  }
  const { give, dlx } = await start(Jobs, { tracing: dlxTracing() });
  await give(true, 'a');
  await give(false, 'b');
  const sent = spans().filter(({ name }) => name.includes('out.one') || name.includes('dlx.events'));
  expect(sent.map(({ status }) => status.code)).toEqual([SpanStatusCode.ERROR, SpanStatusCode.UNSET]);
  expect(sent[0]!.status.message).toContain('dropped');
  expect(dlx.queue('events').messages()[0]?.headers['traceparent']).toContain(sent[1]!.spanContext().spanId);
});

it('listeners that hear of the outcome publish at once, and see the storage of the application', async () => {
  const storage = new AsyncLocalStorage<string>();
  @Injectable()
  class Jobs {
    constructor(private readonly client: DlxClient) {}
    @Consume('jobs')
    @Outbox()
    run(): Promise<void> {
      return storage.run('own', async () => {
        this.client.emit('out.one', storage.getStore());
        await new Promise((resolve) => setImmediate(resolve));
        this.client.emit('out.two', storage.getStore());
      });
    }
  }
  const { dlx, keys, give } = await start(Jobs);
  dlx.app.get(DlxBroker).events.subscribe(({ kind }) => dlx.app.get(DlxClient).emit(`out.${kind}`, 1));
  await give(1, 'a');
  expect(keys()).toEqual(['out.delivered', 'out.one', 'out.two', 'out.acked']);
  expect(
    dlx
      .queue('events')
      .messages()
      .map(({ payload }) => payload),
  ).toEqual([1, 'own', 'own', 1]);
});
