import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  Injectable,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { Ctx, EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { context, propagation, SpanStatusCode, trace, type SpanContext, type TracerProvider } from '@opentelemetry/api';
import {
  AlwaysOffSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  SimpleSpanProcessor,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import {
  Consume,
  DeadLetter,
  DeadLetters,
  DlxBroker,
  DlxClient,
  DlxContext,
  DlxRecordBuilder,
  Drop,
  Idempotent,
  Park,
  Queue,
  Redrives,
  Reject,
  Retry,
  RetryLater,
  type DlxBrokerOptions,
} from 'dlx-broker';
import { toFieldTable } from 'dlx-broker/engine';
import { dlxTracing, type DlxTracing, type DlxTracingOptions } from 'dlx-broker/otel';
import { DlxTesting } from 'dlx-broker/testing';
import type { ConsumedLetter } from 'dlx-broker/streams';
import { concatMap, firstValueFrom, lastValueFrom, of, take, toArray } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { read } from '../docs/pages.js';
import { named, printTraces, registerTracing, spans } from '../harnesses/traces.js';

registerTracing();

const id = '4bf92f3577b34da6a3ce929d0e0e4736';
const foreign = `00-${id}-00f067aa0ba902b7-01`;

const active = (): SpanContext | undefined => trace.getActiveSpan()?.spanContext();
const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));

/** What handlers noted: which span was active where. */
const seen: (readonly [where: string, span: string | undefined])[] = [];
const note = (where: string): void => void seen.push([where, active()?.spanId]);
let inStock = false;

let dlx: DlxTesting | undefined;
afterEach(async () => {
  await dlx?.close();
  dlx = undefined;
  inStock = false;
  seen.splice(0);
});

class OutOfStock extends Error {
  override readonly name = 'OutOfStock';
}

class Guard {
  canActivate(): boolean {
    note('guard');
    return true;
  }
}

class Interceptor {
  intercept(_: ExecutionContext, next: CallHandler): unknown {
    note('interceptor');
    return next.handle();
  }
}

@Controller()
class Orders {
  constructor(private readonly client: DlxClient) {}

  @EventPattern<string>('order.created')
  @Queue('orders')
  @Retry({ attempts: 2, backoff: '1s' })
  created(): void {
    if (!inStock) throw new OutOfStock('none left');
  }

  @EventPattern<string>('watched')
  @Queue('watched')
  @UseGuards(Guard)
  @UseInterceptors(Interceptor)
  async watched(@Payload() data: unknown): Promise<void> {
    note(`${String(data)} at once`);
    await later();
    note(`${String(data)} later`);
    await firstValueFrom(this.client.emit('elsewhere', 1));
  }

  @MessagePattern('sum')
  sum(@Payload() numbers: readonly number[]): unknown {
    note('request');
    return of(...numbers);
  }

  @EventPattern<string>('decides')
  @Queue('decides')
  @DeadLetter({ exchange: 'dlx' })
  decides(@Payload() how: string, @Ctx() message: DlxContext): void {
    const decisions: Readonly<Record<string, () => unknown>> = {
      later: () => new RetryLater('1h'),
      park: () => new Park('looked at by hand'),
      reject: () => new Reject('is wrong'),
      drop: () => new Drop(),
      error: () => new TypeError('bug'),
      text: () => 'a text',
    };
    if (how === 'ack') return message.ack();
    throw decisions[how]!();
  }

  @EventPattern<string>('both.*')
  @Queue('both')
  first(): void {
    note('first');
  }

  @EventPattern<string>('both.fail')
  @Queue('both')
  second(): void {
    throw new Error('second failed');
  }

  @EventPattern<string>('once')
  @Queue('once')
  @Idempotent()
  once(): void {
    note('once');
  }
}

@Injectable()
class Morgue {
  @Consume({ queue: 'dead', exchange: 'dlx', routingKey: '#' })
  take(): void {
    note('dead');
  }
}

async function start(options: DlxTracingOptions = {}, more: DlxBrokerOptions = {}): Promise<DlxClient> {
  const transport = { tracing: dlxTracing(options), ...more };
  dlx = await DlxTesting.create({ controllers: [Orders], providers: [Morgue] }, { transport, logger: false });
  return dlx.app.get(DlxClient);
}

const one = (name: string) => {
  const found = named(name);
  expect(found, name).toHaveLength(1);
  return found[0]!;
};

const linksOf = (name: string): readonly (readonly [unknown, string])[] =>
  one(name).links.map(({ context, attributes }) => [attributes?.['dlx.link'], context.spanId]);

describe('a retry chain', () => {
  it('is one trace from the publish to the redrive, as docs/reference/tracing.md shows it', async () => {
    const client = await start();
    client.emit('order.created', { id: 7 });
    await dlx!.advance('1m');
    inStock = true;
    await dlx!.app.get(Redrives).start({ from: 'orders.parked' }).ended;
    await dlx!.settled();
    const [, shown] =
      /```text\n(#1 publish dlx\.events:order\.created [^]*?)```/.exec(read('docs/reference/tracing.md')) ?? [];
    expect(printTraces()).toBe(shown);
  });

  it('is a trace for each attempt with parent: link', async () => {
    const client = await start({ parent: 'link' });
    client.emit('order.created', { id: 7 });
    await dlx!.advance('1m');
    const [publish] = named('publish dlx.events:order.created');
    const [first, second] = named('process orders');
    expect([first, second].map((span) => span?.parentSpanContext)).toEqual([undefined, undefined]);
    expect(new Set([publish, first, second].map((span) => span?.spanContext().traceId)).size).toBe(3);
    expect(second?.links.map(({ context }) => context.spanId)).toEqual(
      [publish, first].map((span) => span?.spanContext().spanId),
    );
  });

  it('keeps the traceparent that the publisher set', async () => {
    const client = await start();
    client.emit('order.created', new DlxRecordBuilder({ id: 7 }).setHeaders({ traceparent: foreign }).build());
    await dlx!.advance('1m');
    const processes = named('process orders');
    expect(processes.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual(
      Array(2).fill('00f067aa0ba902b7'),
    );
    expect(processes[0]!.spanContext().traceId).toBe(id);
    expect(linksOf('publish dlx.events:order.created')).toEqual([['creation', '00f067aa0ba902b7']]);
    expect(dlx!.queue('orders.parked').messages()[0]!.headers).toMatchObject({ traceparent: foreign });
  });
});

describe('the span of a handler', () => {
  it('is active in guards, interceptors and the handler, also after an await, and around what it publishes', async () => {
    const client = await start();
    client.emit('watched', 'x');
    await dlx!.settled();
    const { spanId } = one('process watched').spanContext();
    expect(seen).toEqual(['guard', 'interceptor', 'x at once', 'x later'].map((where) => [where, spanId]));
    expect(one('publish dlx.events:elsewhere').parentSpanContext?.spanId).toBe(spanId);
  });

  it('is its own, while other messages are handled', async () => {
    const client = await start();
    for (const data of [1, 2, 3]) client.emit('watched', data);
    await dlx!.settled();
    const [first, second, third] = named('process watched').map((span) => span.spanContext().spanId);
    const of = (data: number) => seen.filter(([where]) => where.startsWith(String(data))).map(([, span]) => span);
    expect([of(1), of(2), of(3)]).toEqual([first, second, third].map((span) => [span, span]));
    expect(new Set([first, second, third]).size).toBe(3);
  });

  it('is not that in which the application started', async () => {
    const tracer = trace.getTracer('test');
    const client = await tracer.startActiveSpan('start', async (span) => {
      const started = await start();
      span.end();
      return started;
    });
    await dlx!.publish('watched', 'x');
    await dlx!.settled();
    expect(one('process watched').parentSpanContext).toBeUndefined();
    expect(client).toBeDefined();
  });

  it('belongs to a request, and to its stream of answers', async () => {
    const client = await start();
    const tracer = trace.getTracer('test');
    const asked = tracer.startActiveSpan('asks', (span) => {
      const answers = lastValueFrom(client.send<number>('sum', [1, 2]).pipe(toArray()));
      span.end();
      return answers;
    });
    expect(await asked).toEqual([1, 2]);
    await dlx!.settled();
    expect(printTraces()).toMatchInlineSnapshot(`
      "#1 asks  (INTERNAL)
        #2 publish dlx.requests:sum  (PRODUCER)
          #3 process Orders.sum  (CONSUMER attempt=1 outcome=acked)
              link to #2: creation
      "
    `);
  });

  it('has the texts of the baggage, which the message carries', async () => {
    const client = await start();
    const tenant = propagation.createBaggage({ tenant: { value: 'acme' } });
    context.with(propagation.setBaggage(context.active(), tenant), () => client.emit('order.created', 1));
    await dlx!.advance('1m');
    expect(dlx!.queue('orders.parked').messages()[0]!.headers).toMatchObject({ baggage: 'tenant=acme' });
  });

  it('has the attributes of the conventions', async () => {
    const client = await start({
      attributes: { 'server.address': 'here' },
      template: (_, key) => (key === 'watched' ? 'dlx.events:watched.*' : undefined),
    });
    client.emit('watched', new DlxRecordBuilder('x').setMessageId('m-1').setCorrelationId('c-1').build());
    await dlx!.settled();
    const ids = { 'messaging.message.id': 'm-1', 'messaging.message.conversation_id': 'c-1', 'server.address': 'here' };
    expect(one('publish dlx.events:watched.*').attributes).toEqual({
      'messaging.system': 'rabbitmq',
      'messaging.operation.name': 'publish',
      'messaging.operation.type': 'send',
      'messaging.destination.name': 'dlx.events:watched',
      'messaging.destination.template': 'dlx.events:watched.*',
      'messaging.rabbitmq.destination.routing_key': 'watched',
      ...ids,
    });
    expect(one('process watched').attributes).toEqual({
      'messaging.system': 'rabbitmq',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': 'dlx.events:watched',
      'messaging.rabbitmq.destination.routing_key': 'watched',
      'dlx.handler': 'Orders.watched',
      'dlx.attempt': 1,
      'dlx.outcome': 'acked',
      ...ids,
    });
  });

  it('is one for each handler that a message has', async () => {
    const client = await start();
    client.emit('both.fail', 1);
    client.emit('both.well', 1);
    await dlx!.settled();
    const facts = named('process both').map(({ attributes, status }) => [
      attributes['dlx.handler'],
      attributes['dlx.outcome'],
      status.code === SpanStatusCode.ERROR,
    ]);
    expect(facts.sort()).toEqual([
      ['Orders.first', 'acked', false],
      ['Orders.first', 'handled', false],
      ['Orders.second', 'rejected', true],
    ]);
  });

  it('is none for a message that was handled before', async () => {
    const client = await start();
    const twice = new DlxRecordBuilder(1).setMessageId('m-1').build();
    client.emit('once', twice);
    client.emit('once', twice);
    await dlx!.settled();
    expect(named('process once')).toHaveLength(1);
    expect(named('publish dlx.events:once')).toHaveLength(2);
  });

  it('is below the publish of a client for one exchange, too', async () => {
    const client = await start();
    await firstValueFrom(client.to({ exchange: 'dlx.events' }).emit('watched', 'x'));
    await dlx!.settled();
    const publish = one('publish dlx.events:watched').spanContext().spanId;
    expect(one('process watched').parentSpanContext?.spanId).toBe(publish);
  });

  it('is that of a packet of Nest, with the trace of its metadata', async () => {
    await start({}, { envelope: 'nest' });
    const packet = { pattern: 'watched', data: 'x', metadata: { traceparent: foreign } };
    await dlx!.publish('watched', packet);
    await dlx!.settled();
    expect(one('process watched').parentSpanContext).toMatchObject({ traceId: id, spanId: '00f067aa0ba902b7' });
  });
});

describe('an outcome', () => {
  it.each<[how: string, outcome: string, error: string | undefined]>([
    ['ack', 'by_hand', undefined],
    ['later', 'retried', undefined],
    ['park', 'parked', undefined],
    ['reject', 'rejected', undefined],
    ['drop', 'dropped', undefined],
    ['error', 'rejected', 'TypeError'],
    ['text', 'rejected', 'string'],
  ])('of a handler is an attribute, and an error only if it threw one: %s', async (how, outcome, error) => {
    (await start()).emit('decides', how);
    await dlx!.settled();
    const { attributes, status, events } = one('process decides');
    expect(attributes).toMatchObject({ 'dlx.outcome': outcome });
    expect(attributes['error.type']).toBe(error);
    expect(status.code).toBe(error === undefined ? SpanStatusCode.UNSET : SpanStatusCode.ERROR);
    const dead = outcome === 'rejected' ? ['rejected', 'dlx'] : ['parked', 'decides.parked'];
    const expected = /rejected|parked/.test(outcome)
      ? [{ 'dlx.reason': dead[0], 'dlx.to': dead[1], 'dlx.queue': 'decides' }]
      : [];
    expect(events.filter(({ name }) => name === 'dlx.dead_lettered').map((event) => event.attributes)).toEqual(
      expected.map((facts) => expect.objectContaining(facts) as unknown),
    );
  });

  it('of a rejected message is seen by the handler of dead letters', async () => {
    (await start()).emit('decides', 'error');
    await dlx!.settled();
    const { events, links, parentSpanContext } = one('process dead');
    expect(events.map(({ name, attributes }) => [name, attributes])).toEqual([
      [
        'dlx.death',
        {
          'dlx.reason': 'rejected',
          'dlx.queue': 'decides',
          'dlx.exchange': 'dlx.events',
          'dlx.routing_keys': ['decides'],
          'dlx.count': 1,
        },
      ],
    ]);
    const publish = one('publish dlx.events:decides').spanContext().spanId;
    expect(parentSpanContext?.spanId).toBe(publish);
    expect(links.map(({ context }) => context.spanId)).toEqual([publish, one('process decides').spanContext().spanId]);
  });

  it('without a handler is a span of its own', async () => {
    await start();
    await dlx!.publish('orders', Buffer.from('{oops'), { contentType: 'application/json' });
    await dlx!.publish('both', 1);
    await dlx!.publish({ exchange: '', routingKey: 'decides' }, Buffer.from('{oops'), {
      contentType: 'application/json',
    });
    await dlx!.settled();
    expect(printTraces().replace(/ in JSON at .*\)$/gm, ')')).toMatchInlineSnapshot(`
      "#1 park orders.parked  (CLIENT to=orders.parked attempt=1 ERROR a payload with content type 'application/json' cannot be decoded: it is no JSON: Expected property name or '}')
          event dlx.dead_lettered: parked in orders to orders.parked
          event exception: UndecodablePayloadError
      #2 reject both  (CLIENT attempt=1 ERROR no handler of queue 'both' is for the pattern 'both')
          event exception: UnknownPatternError
      #3 reject decides  (CLIENT to=dlx attempt=1 ERROR a payload with content type 'application/json' cannot be decoded: it is no JSON: Expected property name or '}')
          event dlx.dead_lettered: rejected in decides to dlx
          event exception: UndecodablePayloadError
      #4 process dead  (CONSUMER attempt=1 outcome=acked)
          event dlx.death: rejected in decides
      "
    `);
  });

  it('of a publish is an error if the broker refuses it', async () => {
    const client = await start();
    const unroutable = new DlxRecordBuilder(1).setMandatory(true).build();
    await expect(firstValueFrom(client.emit('missing', unroutable))).rejects.toThrow();
    await expect(lastValueFrom(client.send('missing', 1))).rejects.toThrow();
    const circular: { self?: unknown } = {};
    circular.self = circular;
    await expect(firstValueFrom(client.emit('missing', circular))).rejects.toThrow('JSON');
    expect(spans().map(({ name, status, attributes }) => [name, status.code, attributes['error.type']])).toEqual([
      ['publish dlx.events:missing', SpanStatusCode.ERROR, 'UnroutableError'],
      ['publish dlx.requests:missing', SpanStatusCode.ERROR, 'UnroutableError'],
    ]);
  });

  it('of a publish ends also if the backend throws', async () => {
    const client = await start();
    vi.spyOn(dlx!.app.get(DlxBroker).backend, 'publish').mockImplementationOnce(() => {
      throw new RangeError('out of memory');
    });
    await expect(firstValueFrom(client.emit('watched', 'x'))).rejects.toThrow('out of memory');
    expect(spans().map(({ name, attributes }) => [name, attributes['error.type']])).toEqual([
      ['publish dlx.events:watched', 'RangeError'],
    ]);
  });
});

describe('dead letters', () => {
  it('that a stream moves have a span each, below the publish or the span that is active there', async () => {
    const client = await start();
    for (const _ of [1, 2, 3]) client.emit('decides', 'park');
    await dlx!.settled();
    const publishes = named('publish dlx.events:decides').map((span) => span.spanContext().spanId);
    const moves: ((letter: ConsumedLetter) => Promise<void>)[] = [
      (letter) => letter.redrive('watched'),
      (letter) => letter.park('decides.parked').catch(() => letter.ack()),
      (letter) =>
        trace.getTracer('test').startActiveSpan('looks', (span) => letter.retryIn('1h').finally(() => span.end())),
    ];
    const letters = dlx!.app.get(DeadLetters).from('decides.parked');
    const all = letters.pipe(
      concatMap((letter, index) => moves[index]!(letter)),
      take(3),
    );
    await lastValueFrom(all);
    const settles = ['redrive decides.parked', 'park decides.parked', 'retry decides.parked'];
    const facts = settles.map((name) => {
      const { parentSpanContext, links, attributes, status } = named(name).at(-1)!;
      const isError = status.code === SpanStatusCode.ERROR;
      return [parentSpanContext?.spanId, links.map(({ context }) => context.spanId), attributes['dlx.to'], isError];
    });
    expect(facts).toEqual([
      [publishes[0], [publishes[0]], '/watched', false],
      [publishes[1], [publishes[1]], 'decides.parked', true],
      [one('looks').spanContext().spanId, [publishes[2]], 'decides', false],
    ]);
  });

  it('that a redrive moves are links of its span, at most 128', async () => {
    const client = await start();
    for (let number = 0; number < 130; number++) client.emit('decides', 'park');
    await dlx!.settled();
    const task = dlx!.app
      .get(Redrives)
      .start({ from: 'decides.parked', to: 'once', perSecond: Infinity, circuit: false });
    await task.ended;
    const redrive = one('redrive decides.parked');
    expect(redrive.links).toHaveLength(128);
    expect(redrive.attributes).toMatchObject({
      'messaging.batch.message_count': 130,
      'dlx.redrive.state': 'done',
    });
    expect(spans().filter(({ name }) => name.startsWith('redrive'))).toHaveLength(1);
  });
});

describe('whatever a client writes into the headers', () => {
  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['a long traceparent', { traceparent: 'x'.repeat(60_000) }],
    ['tables', { traceparent: { a: foreign }, tracestate: [1], baggage: { a: 1 }, 'dlx-trace-attempt': [foreign] }],
    ['forged tables', { 'dlx-metadata': { traceparent: { traceparent: foreign }, baggage: 1, __proto__: null } }],
    ['no trace', { traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, 'dlx-trace-attempt': '00-1-2-3' }],
    ['odd baggage', { baggage: ';;;=,%%%%,=x,' + ','.repeat(5_000) }],
    [
      'forged deaths',
      { 'x-death': [1, { queue: 'x'.repeat(999), reason: 'y', time: new Date(8.64e15), count: -5 }, {}] },
    ],
  ])('%s makes a trace of its own', async (_, headers) => {
    await start();
    await dlx!.publish('watched', 'x', { headers: toFieldTable(headers) });
    await dlx!.settled();
    const { parentSpanContext, links, attributes } = one('process watched');
    expect([parentSpanContext, links]).toEqual([undefined, []]);
    expect(attributes['dlx.outcome']).toBe('acked');
  });
});

describe('a tracing library that fails', () => {
  const provider = (tracer: object): TracerProvider => ({ getTracer: () => tracer }) as unknown as TracerProvider;
  const fails = (): never => {
    throw new Error('the tracer failed');
  };
  const broken = (...methods: readonly string[]): object => {
    const faults = Object.fromEntries(methods.map((method) => [method, fails]));
    const span = Object.assign(Object.create(trace.getTracer('x').startSpan('x')) as object, faults);
    return { startSpan: () => span };
  };

  it.each<[string, DlxTracing]>([
    ['at the start of a span', dlxTracing({ tracerProvider: provider({ startSpan: fails }) })],
    ['at the end of a span', dlxTracing({ tracerProvider: provider(broken('end')) })],
    [
      'everywhere',
      dlxTracing({
        tracerProvider: provider(
          broken('end', 'addEvent', 'setAttribute', 'isRecording', 'spanContext', 'recordException'),
        ),
      }),
    ],
    ['in a function of the application', dlxTracing({ template: fails })],
    ['by all methods of the port', { published: fails, startProcess: fails, moved: fails, redrive: fails }],
    [
      'by calling a handler never, twice or late',
      {
        published: () => undefined,
        startProcess: (() => {
          const ways = [
            () => undefined,
            (run: () => void) => (run(), run(), fails()),
            (run: () => void) => void setTimeout(run),
          ];
          return () => ({ header: 'x', run: ways.shift() ?? fails, handled: fails, end: fails });
        })(),
        moved: fails,
        redrive: fails,
      },
    ],
  ])('%s loses no message, and is logged once', async (_, tracing) => {
    const warnings: unknown[] = [];
    const quiet = (): void => undefined;
    const logger = { log: quiet, error: quiet, warn: (text: unknown) => warnings.push(text) };
    dlx = await DlxTesting.create(
      { controllers: [Orders], providers: [Morgue] },
      { transport: { tracing, logFailures: 'none' }, logger },
    );
    const client = dlx.app.get(DlxClient);
    for (let number = 0; number < 3; number++) await firstValueFrom(client.emit('watched', number));
    await firstValueFrom(client.emit('order.created', 1));
    expect(await lastValueFrom(client.send('sum', [1]))).toBe(1);
    await dlx.advance('1m');
    inStock = true;
    await dlx.app.get(Redrives).start({ from: 'orders.parked' }).ended;
    await dlx.settled();
    expect(seen.filter(([where]) => where.endsWith('later'))).toHaveLength(3);
    expect(dlx.queue('orders').ready + dlx.queue('orders.parked').ready).toBe(0);
    expect(warnings.filter((text) => String(text).startsWith('tracing failed'))).toHaveLength(1);
  });
});

describe('an exporter', () => {
  const providerOf = (exporter: Partial<SpanExporter>): TracerProvider =>
    new BasicTracerProvider({
      spanProcessors: [
        new SimpleSpanProcessor(exporter as SpanExporter),
        new BatchSpanProcessor(exporter as SpanExporter, { maxExportBatchSize: 1 }),
      ],
    });

  it.each<[string, Partial<SpanExporter>]>([
    ['that hangs', { export: () => undefined, shutdown: () => new Promise(() => undefined) }],
    [
      'that throws',
      {
        export: () => {
          throw new Error('the exporter failed');
        },
      },
    ],
  ])('%s holds up no message', async (_, exporter) => {
    const client = await start({ tracerProvider: providerOf(exporter) });
    for (let number = 0; number < 10; number++) await firstValueFrom(client.emit('watched', number));
    await dlx!.settled();
    expect(seen.filter(([where]) => where.endsWith('later'))).toHaveLength(10);
  });

  it('gets nothing of a message that is not sampled, which says so to its consumers', async () => {
    const headers: unknown[] = [];
    const tracerProvider = new BasicTracerProvider({ sampler: new AlwaysOffSampler() });
    const client = await start({ tracerProvider });
    client.emit('order.created', 1);
    await dlx!.advance('1m');
    for (const message of dlx!.queue('orders.parked').messages()) headers.push(message.headers['traceparent']);
    expect(headers).toEqual([expect.stringMatching(/^00-[\da-f]{32}-[\da-f]{16}-00$/)]);
    expect(spans()).toEqual([]);
  });
});

describe('without the option', () => {
  it('messages have no headers, and handlers no span', async () => {
    dlx = await DlxTesting.create({ controllers: [Orders] }, { logger: false });
    const client = dlx.app.get(DlxClient);
    await trace.getTracer('test').startActiveSpan('asks', async (span) => {
      await firstValueFrom(client.emit('watched', 'x'));
      span.end();
    });
    await dlx.settled();
    expect(seen).toContainEqual(['x at once', undefined]);
    expect(spans().map(({ name }) => name)).toEqual(['asks']);
  });

  it.each<[string, unknown]>([
    ['true', true],
    ['an object', {}],
    ['a provider', trace],
  ])('%s in its place is refused', async (_, tracing) => {
    const options = { transport: { tracing: tracing as DlxTracing }, logger: false } as const;
    await expect(DlxTesting.create({}, options)).rejects.toThrow(/tracing/);
  });
});

describe('dlxTracing', () => {
  it.each<[object, RegExp]>([
    [{ parents: 'link' }, /did you mean 'parent'/],
    [{ parent: 'sibling' }, /parent of dlxTracing/],
    [{ template: 'x' }, /template of dlxTracing.*is not a function/],
    [{ attributes: 'x' }, /attributes of dlxTracing/],
    [{ tracerProvider: {} }, /getTracer/],
  ])('refuses %j', (options, text) => {
    expect(() => dlxTracing(options as DlxTracingOptions)).toThrow(text);
  });
});
