import { Controller, Injectable } from '@nestjs/common';
import { EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { context, propagation, trace } from '@opentelemetry/api';
import { Consume, DeadLetter, DlxBroker, DlxClient, Queue, Redrives, Retry } from 'dlx-broker';
import { dlxTracing } from 'dlx-broker/otel';
import { lastValueFrom, of, toArray } from 'rxjs';
import { afterEach, expect, it } from 'vitest';
import { named, registerTracing, spans } from '../harnesses/traces.js';
import { hybrid } from './apps.js';
import { isEmbedded, until } from './places.js';

registerTracing();

interface Seen {
  readonly where: string;
  readonly span: string | undefined;
  readonly tenant: string | undefined;
}

const seen: Seen[] = [];
let isFixed = false;
afterEach(() => {
  seen.splice(0);
  isFixed = false;
});

function note(where: string): void {
  const tenant = propagation.getActiveBaggage()?.getEntry('tenant')?.value;
  seen.push({ where, span: trace.getActiveSpan()?.spanContext().spanId, tenant });
}

@Controller()
class Orders {
  @EventPattern<string>('fails')
  @Queue('fails')
  @Retry({ attempts: 2, backoff: '1ms' })
  async fails(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 1));
    note('fails');
    if (!isFixed) throw new Error('not yet');
  }

  @MessagePattern('ask')
  ask(): unknown {
    note('ask');
    return of(1, 2);
  }
}

@Injectable()
class Provider {
  constructor(private readonly client: DlxClient) {}

  @Consume({ queue: 'dies', routingKey: 'dies' })
  @DeadLetter({ exchange: 'dlx' })
  async dies(@Payload() data: unknown): Promise<void> {
    note(`dies ${String(data)}`);
    await lastValueFrom(this.client.send('ask', 1).pipe(toArray()));
    note(`dies ${String(data)}`);
    throw new Error('dies');
  }

  @Consume({ queue: 'dead', exchange: 'dlx', routingKey: '#' })
  dead(): void {
    note('dead');
  }
}

const start = () =>
  hybrid({ controllers: [Orders], providers: [Provider], options: { tracing: dlxTracing(), logFailures: 'none' } });

const idsOf = (name: string): readonly string[] => named(name).map((span) => span.spanContext().spanId);

/** Emits as a request of the tenant, inside a span. */
function emitAs(tenant: string, client: DlxClient, pattern: string): Promise<unknown> {
  const baggage = propagation.createBaggage({ tenant: { value: tenant } });
  return context.with(propagation.setBaggage(context.active(), baggage), () =>
    trace.getTracer('test').startActiveSpan(`request of ${tenant}`, async (span) => {
      await lastValueFrom(client.emit(pattern, tenant), { defaultValue: undefined });
      span.end();
    }),
  );
}

it('a retry chain, its parking and its redrive are one trace', async () => {
  const app = await start();
  await emitAs('a', app.get(DlxClient), 'fails');
  await until(() => expect(app.get(DlxBroker).counts.parked).toBe(1));
  isFixed = true;
  await app.get(Redrives).start({ from: 'fails.parked', to: 'fails' }).ended;
  await until(() => expect(named('process fails')).toHaveLength(3));
  const [publish] = idsOf('publish dlx.events:fails');
  const [first, second, third] = named('process fails');
  for (const span of [first, second, third]) expect(span?.parentSpanContext?.spanId).toBe(publish);
  const ids = idsOf('process fails');
  const links = [first, second, third].map((span) => span?.links.map((link) => link.context.spanId));
  // A RabbitMQ cannot add the header of an attempt to a message that is dead-lettered into the wait queue.
  const previous = isEmbedded ? [[publish], [publish, ids[0]], [publish, ids[1]]] : [[publish]];
  expect(links).toEqual(expect.arrayContaining(previous));
  for (const link of links) expect(link?.[0]).toBe(publish);
  expect([first, second, third].map((span) => span?.attributes['dlx.outcome'])).toEqual(['retried', 'parked', 'acked']);
  expect(named('retry fails').map((span) => span.parentSpanContext?.spanId)).toEqual([ids[0]]);
  expect(named('park fails.parked').map((span) => span.parentSpanContext?.spanId)).toEqual([ids[1]]);
  expect(named('redrive fails.parked')[0]?.links.map((link) => link.context.spanId)).toEqual([publish]);
  expect(seen).toEqual(ids.map((span) => ({ where: 'fails', span, tenant: 'a' })));
});

it('each handler has its own span and the baggage of its message, while others run', async () => {
  const app = await start();
  await Promise.all(['a', 'b', 'c'].map((tenant) => emitAs(tenant, app.get(DlxClient), 'dies')));
  await until(() => expect(named('process dead')).toHaveLength(3));
  for (const tenant of ['a', 'b', 'c']) {
    const own = seen.filter(({ where }) => where === `dies ${tenant}`);
    expect(own).toHaveLength(2);
    const [{ span: active }] = own as [Seen, Seen];
    for (const one of own) expect(one).toEqual({ where: `dies ${tenant}`, span: active, tenant });
    const span = spans().find((each) => each.spanContext().spanId === active);
    expect(span).toMatchObject({ name: 'process dies', attributes: { 'dlx.outcome': 'rejected' } });
    const request = named(`request of ${tenant}`)[0];
    expect(span?.spanContext().traceId).toBe(request?.spanContext().traceId);
    expect(named('publish dlx.requests:ask').map((each) => each.parentSpanContext?.spanId)).toContain(active);
  }
  expect(
    seen
      .filter(({ where }) => where === 'dead')
      .map(({ tenant }) => tenant)
      .sort(),
  ).toEqual(['a', 'b', 'c']);
  const deaths = named('process dead').flatMap(({ events }) =>
    events.map(({ attributes }) => attributes?.['dlx.queue']),
  );
  expect(deaths).toEqual(['dies', 'dies', 'dies']);
});
