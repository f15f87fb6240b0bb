import { createRequire } from 'node:module';
import { Injectable } from '@nestjs/common';
import { trace } from '@opentelemetry/api';
import { AmqplibInstrumentation } from '@opentelemetry/instrumentation-amqplib';
import type amqplib from 'amqplib';
import { Consume, DlxBroker, DlxClient, embedded, Retry } from 'dlx-broker';
import { dlxTracing } from 'dlx-broker/otel';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { contextApp } from '../e2e/apps.js';
import { named, printTraces, registerTracing } from '../harnesses/traces.js';

const provider = registerTracing();

const instrumentation = new AmqplibInstrumentation();
let client: typeof amqplib;
beforeAll(() => {
  instrumentation.setTracerProvider(provider);
  instrumentation.enable();
  // It changes what `require` returns.
  client = createRequire(import.meta.url)('amqplib') as typeof amqplib;
});
afterAll(() => instrumentation.disable());

@Injectable()
class Orders {
  #isFirst = true;

  constructor(private readonly dlx: DlxClient) {}

  @Consume({ queue: 'orders', routingKey: 'order.created' })
  @Retry({ attempts: 2, backoff: '1ms' })
  created(): void {
    if (this.#isFirst) {
      this.#isFirst = false;
      throw new Error('not yet');
    }
    this.dlx.emit('order.packed', 1);
  }
}

it("amqplib with OpenTelemetry's own instrumentation and handlers here are in one trace, there and back", async () => {
  const broker = embedded({ listen: { amqp: { port: 0 } } });
  const app = await contextApp({
    providers: [Orders],
    options: { broker, tracing: dlxTracing(), logFailures: 'none' },
  });
  const connection = await client.connect(`amqp://127.0.0.1:${app.get(DlxBroker).amqp!.port}`);
  const channel = await connection.createConfirmChannel();
  const { queue } = await channel.assertQueue('packing', { exclusive: true });
  await channel.bindQueue(queue, 'dlx.events', 'order.packed');
  const headers: unknown[] = [];
  await channel.consume(queue, (message) => {
    headers.push(message?.properties.headers);
    if (message !== null) channel.ack(message);
  });
  trace.getTracer('test').startActiveSpan('shop', (span) => {
    channel.publish('dlx.events', 'order.created', Buffer.from('{}'), { contentType: 'application/json' });
    span.end();
  });
  const ended = (): unknown => expect([...named('packing process'), ...named('process orders')]).toHaveLength(3);
  await vi.waitFor(ended, { timeout: 5_000 });
  await connection.close();
  expect(printTraces()).toMatchInlineSnapshot(`
    "#1 shop  (INTERNAL)
      #2 publish dlx.events  (PRODUCER)
        #3 process orders  (CONSUMER attempt=1 outcome=retried ERROR not yet)
            link to #2: creation
            event exception: Error
          #4 retry orders  (CLIENT to=orders attempt=1 delay_ms=1)
              link to #2: creation
        #5 process orders  (CONSUMER attempt=2 outcome=acked)
            link to #2: creation
            link to #3: previous attempt
            event dlx.death: rejected in orders
            event dlx.death: expired in wait.1
          #6 publish dlx.events:order.packed  (PRODUCER)
            #7 packing process  (CONSUMER)
    "
  `);
  const [publish] = named('publish dlx.events:order.packed');
  const { traceId, spanId } = publish!.spanContext();
  expect(headers).toEqual([{ traceparent: `00-${traceId}-${spanId}-01` }]);
});
