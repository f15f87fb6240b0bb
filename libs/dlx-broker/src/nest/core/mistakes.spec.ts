import 'reflect-metadata';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { resolveRedrive } from '../streams/redrive-request.js';
import { DlxTesting, harness } from '../../testing.js';
import { planRetry } from '../retry/index.js';
import { DlxConfigurationError } from '../../platform/options/index.js';
import { binding, queue, readTopology } from '../../backends/topology/index.js';
import { DlxClient } from '../client/client.js';
import { embedded, embeddedChecks } from '../brokers/embedded.js';
import { rabbitmqChecks } from '../brokers/rabbitmq.js';
import { contributionsOf } from '../decorators/contribution.js';
import * as decorators from '../decorators/index.js';
import { DlxBrokerModule } from '../module/dlx-broker.module.js';
import * as features from '../features/index.js';
import { readSettings } from './handler-settings.js';
import { checkOptions, resolveOptions } from '../module/options.js';
import { refuses } from '../../../../../test/harnesses/refuses.js';
import { allDecorators } from '../../../../../test/harnesses/all-decorators.js';
import { RetryLater } from './outcomes.js';
import { DlxRecordBuilder } from '../client/record-builder.js';

/*
 * What users write wrong: of another type, undefined, misspelt, or in the wrong place. Every one is refused by an error that
 * says where it stands, what is wrong and what there is instead. The casts stand for JavaScript, and for values of `any`.
 */

const bad = (value: unknown): never => value as never;

/** Calls a function with an argument of another type. */
const run = (call: () => unknown): unknown => call();

type Decorator = (...given: readonly unknown[]) => MethodDecorator;
type Written<Module> = Readonly<Record<keyof Module, Decorator>>;
const { Bind, Consume, ConsumerPriority, DeadLetter, Exchange, Expires, MaxLength, MaxLengthBytes, MaxPriority } =
  decorators as unknown as Written<typeof decorators>;
const { Prefetch, Queue, QueueArguments, Quorum, Retry, SingleActiveConsumer, Ttl } = decorators as unknown as Written<
  typeof decorators
>;
const { Answer, Circuit, Idempotent, On, Ordered } = features as unknown as Written<typeof features>;
const { event, featureDecorators, request } = features;

/** The settings of a method `Orders.create` below these decorators. The errors say where they stand, which the rows leave out. */
function above(decorate: () => MethodDecorator | readonly MethodDecorator[]): unknown {
  const method = (): void => undefined;
  try {
    for (const each of [decorate()].flat()) each({}, 'create', { value: method } as never);
    return readSettings(contributionsOf(method), 'Orders.create', featureDecorators);
  } catch (error) {
    if (!(error instanceof DlxConfigurationError)) throw error;
    expect(error.message).toContain(' on Orders.create');
    throw new DlxConfigurationError(error.message.replace(' on Orders.create', ''));
  }
}

describe('a decorator without parentheses', () => {
  class Orders {}

  it('is one of twenty or more', () => expect(allDecorators.length).toBeGreaterThanOrEqual(20));

  it.each(allDecorators)('@%s', (name, decorate) => {
    // As compilers of decorators call it.
    const descriptor = { value: (): void => undefined };
    const bare = (): unknown => (decorate as (...given: unknown[]) => unknown)(Orders.prototype, 'create', descriptor);
    expect(bare).toThrow(DlxConfigurationError);
    expect(bare).toThrow(
      `@${name} above a method of Orders has no parentheses; write @${name}(), with its parameters if it has any`,
    );
  });
});

describe('decorators refuse', () => {
  const noUnit = /^@\w+: '30' has no unit; write 30 for milliseconds, or a string such as '30s'/;
  refuses(above, [
    [() => Ttl('30'), noUnit],
    [() => Ttl(undefined), /@Ttl: undefined where a value is expected/],
    [() => Ttl(null), /null is not a duration/],
    [() => Ttl({ s: 3 }), /\{"s":3\} is not a duration/],
    [() => Expires('30'), noUnit],
    [() => Expires(0), /0 is less than 1 ms/],
    [() => MaxLength('5'), /MaxLength: '5' is a string; write the number 5$/],
    [() => MaxPriority('256'), /'256' is not a whole number/],
    [() => MaxLength('five'), /'five' is not a whole number/],
    [() => MaxLength('9'.repeat(99)), /'9+' is not a whole number/],
    [() => MaxLength(Number.NaN), /NaN is not a whole number/],
    [() => MaxLength(5, 'reject-publish'), /write \{ overflow: 'reject-publish' \} behind/],
    [() => MaxLength(5, { overfow: 'drop-head' }), /did you mean 'overflow'\? there is overflow$/],
    [() => MaxLength(5, { overflow: 'drop' }), /is not one of drop-head/],
    [() => MaxLengthBytes(Infinity), /Infinity is not a whole number/],
    [() => Quorum(5), /5 is not an object of options; write \{ deliveryLimit: 5 \}/],
    [() => Quorum({ deliverylimit: 5 }), /did you mean 'deliveryLimit'\? there is deliveryLimit$/],
    [() => MaxPriority(256), /256 is not between 1 and 255/],
    [() => Prefetch('10'), /@Prefetch: '10' is a string; write the number 10$/],
    [
      () => DeadLetter(undefined),
      /exchange of @DeadLetter: undefined .* write @DeadLetter\('orders\.dlx'\), or @DeadLetter\(false\)/,
    ],
    [() => ConsumerPriority(undefined), /undefined where a value is expected; write @ConsumerPriority\(10\)$/],
    [() => Retry(undefined), /policy of @Retry: undefined .* write @Retry\(\{ attempts: 5 \}\), or @Retry\(false\)/],
    [() => Bind(undefined), /exchange of @Bind: undefined .* write @Bind\('shop', 'order\.\*'\)$/],
    [() => Consume(undefined), /@Consume: undefined is not an object of options; write 'orders'/],
    [() => Consume(5), /5 is not an object of options/],
    [() => Consume(['a', 'b']), /\["a","b"\] is not an object of options/],
    [() => Consume({ queue: undefined }), /queue of @Consume: undefined/],
    [
      () => Consume({ routingkey: 'x' }),
      /did you mean 'routingKey'\? there are queue, exchange, routingKey, envelope, broker/,
    ],
    [() => Consume({ exchange: '' }), /'' is the default exchange/],
    [() => Consume({ exchange: { type: 'topic' } }), /name of exchange of @Consume/],
    [() => Consume({ exchange: { name: 'x', durabel: true } }), /did you mean 'durable'\?/],
    [() => Queue(undefined), /undefined is not an object of options/],
    [() => Queue({ durable: 'no' }), /durable of @Queue: .*'no' is neither true nor false/],
    [() => Queue({ arguments: null }), /null is not an object of options/],
    [() => Exchange(undefined), /name of @Exchange: undefined/],
    [() => Exchange('x', 'topic'), /'topic' is not an object of options; write \{ type: 'direct' \}/],
    [() => Exchange('x', { alternativeExchange: 'y' }), /did you mean 'alternateExchange'\? there are type, durable,/],
    [() => Bind('x', undefined), /routingKey of @Bind: undefined/],
    [() => Bind('x', 5), /5 is not a string/],
    [() => Bind('x', '', 'all'), /'all' is not an object of options/],
    [() => DeadLetter(null), /null is not an object of options; write 'exchange', 'key'/],
    [() => DeadLetter('x', undefined), /routingKey of @DeadLetter: .*undefined/],
    [() => DeadLetter({ exchange: 'x', routing_key: 'y' }), /did you mean 'routingKey'\?/],
    [() => DeadLetter(true), /exchange of @DeadLetter: .*true is not a string/],
    [() => [DeadLetter('x'), DeadLetter(false)], /with an exchange and with false/],
    [() => QueueArguments(undefined), /arguments of @QueueArguments: .*undefined/],
    [() => QueueArguments([1]), /\[1\] is not an object/],
    [() => QueueArguments({ 'x-a': () => 1 }), /is a function, which cannot be sent/],
    [() => Retry(3), /3 is no policy: write \{ attempts: 5 \}/],
    [() => Retry(true), /true is no policy/],
    [() => Idempotent('id'), /'id' is not an object of options; write \{ key:/],
    [() => Idempotent({ key: 'id' }), /key of @Idempotent: 'id' is not a function; write \(order\) => order\.id$/],
    [() => Idempotent({ ttl: '24' }), /'24' has no unit/],
    [() => Idempotent({ store: {} }), /is no IdempotencyStore: it has no method claim\(\)/],
    [() => Circuit({ atleast: 2 }), /did you mean 'atLeast'\? there are on, share,/],
    [() => Ordered({ key: 'id' }), /'id' is not a function; write \(order\) => order\.id$/],
    [() => On(request('order.price')), /contract of @On: request\('order\.price'\) is no event; write @Answer/],
    [() => Answer(event('order.created')), /of @Answer: event\('order\.created'\) is no request; write @On/],
    [() => On('order.created'), /no contract; write event\('order\.created'\), or @Consume with a routingKey$/],
    [() => Answer('price'), /'price' is no contract; write request\('order\.price'\)$/],
    [() => On(undefined), /undefined is no contract; if its file imports this one, move the contract/],
    [() => [Consume('a'), Consume('b')], /@Consume: it is there 2 times; write it once/],
  ]);

  class Orders {
    handle(): void {}
    static handle(): void {}
    get queue(): string {
      return '';
    }
  }
  const all = [Consume('q'), Ttl(1), Queue('q'), Retry(false), SingleActiveConsumer()];
  const on = (target: object, key?: string, descriptor?: unknown) => () => {
    for (const decorate of all) (decorate as (...where: unknown[]) => void)(target, key, descriptor);
  };
  const descriptor = Object.getOwnPropertyDescriptor(Orders.prototype, 'queue');
  refuses(run, [
    [on(Orders), /@Consume stands above the class Orders; it is for methods/],
    [on(Orders.prototype, 'name'), /@Consume stands above the property Orders\.name; it is for methods/],
    [on(Orders.prototype, 'queue', descriptor), /above the accessor or property Orders\.queue/],
    [on(Orders, 'handle', { value: Orders.handle }), /above the static member Orders\.handle/],
    [on(Orders.prototype, 'handle', 0), /above a parameter of Orders\.handle/],
  ]);
});

describe('forRoot refuses', () => {
  /** The errors name the first option and the broker, which the rows leave out. */
  const root = (options: unknown): unknown => {
    try {
      return checkOptions(bad(options), 'default');
    } catch (error) {
      const [first] = Object.keys(Object(options));
      const message = (error as Error).message.replace(`'${first}' of DlxBrokerModule (broker 'default')`, '');
      throw new DlxConfigurationError(message.replace('option :', 'option:'));
    }
  };
  refuses(root, [
    ['amqp://localhost', /'amqp:\/\/localhost' is not an object of options/],
    [null, /null is not an object of options/],
    [[], /\[\] is not an object of options/],
    [{ prefecth: 1 }, /'prefecth' is no option; did you mean 'prefetch'\? there are name, isGlobal/],
    [{ uri: 'amqp://' }, /'uri' is no option; there are name/],
    [{ name: 5 }, /^option: 5 is not a string/],
    [{ isGlobal: 'yes' }, /^option: 'yes' is neither true nor false/],
    [{ broker: 5672 }, /^option: number is no broker; write embedded\(\), /],
    [{ broker: 'amqp://' }, /a string is no broker; write rabbitmq\(\{ urls: '...' \}\) .* or embedded\(\) /],
    [{ broker: null }, /^option: object is no broker/],
    [{ broker: embedded }, /^option: function is no broker/],
    [{ broker: { dataDir: './data' } }, /^option: object is no broker/],
    [{ broker: { kind: 'embedded', options: { dataDri: 5 } } }, /^option: object is no broker/],
    [{ broker: harness().broker }, /^option: is a Broker of dlx-broker\/engine; write broker: sharedBroker\(broker\)/],
    [{ broker: harness().backend }, /^option: is a Backend; write broker: customBackend\(backend\)/],
    [{ backend: harness().backend }, /'backend' is an option of customBackend\(\): .*customBackend\(backend\) \}\)$/],
    [{ events: 5 }, /^option: 5 is not an object of options; write a name/],
    [{ events: { name: 'x', typ: 'topic' } }, /did you mean 'type'\?/],
    [{ requests: '' }, /^option: '' is empty/],
    [{ prefetch: '10' }, /^option: '10' is a string; write the number 10$/],
    [{ drainTimeout: '10' }, /^option: '10' has no unit/],
    [{ drainTimeout: null }, /^option: null is not a duration/],
    [{ errorHeaders: 'no' }, /^option: 'no' is not an object/],
    [{ errorHeaders: { stak: 5 } }, /did you mean 'stack'\?/],
    [{ retry: 3 }, /^option: 3 is not an object of options; write \{ attempts: 5 \}/],
    [{ retry: { attemps: 3 } }, /^option: 'attemps' is no option; did you mean 'attempts'\?/],
    [{ queueRetry: { orders: { attempts: 'three' } } }, /queue 'orders': attempts is 'three'; write a whole/],
    [{ queueRetry: [] }, /^option: \[\] is not an object/],
    [{ queueRetry: { orders: 3 } }, /queue 'orders': 3 is not an object of options/],
    [{ random: 0.5 }, /^option: 0.5 is not a function/],
    [{ notices: true }, /^option: true is not the name of an exchange; write 'dlx\.notices'/],
    [{ notices: 'dlx.events' }, /^option: 'dlx\.events' is the exchange of option 'events', .* of their own/],
    [{ notices: 'mine', requests: { name: 'mine', type: 'topic' } }, /'mine' is the exchange of option 'requests'/],
    [{ notices: '' }, /^option: '' is not the name of an exchange/],
    [{ tracing: true }, /^option: 'boolean' is no tracing, such as dlxTracing\(\)/],
    [{ idempotencyStore: new Map() }, /is no IdempotencyStore: it has no method claim/],
    [{ waitQueueType: 'qourum' }, /^option: 'qourum' is not one of classic, quorum/],
    [{ clusterTopology: 'yes' }, /^option: 'yes' is not an object of options/],
    [{ clusterTopology: { deliverylimit: 5 } }, /^option.*deliverylimit/],
    [{ clusterTopology: { deliveryLimit: -1 } }, /^option.*deliveryLimit.*-1/],
    [{ declare: 'no' }, /^option: 'no' is neither true nor false/],
    [{ logHandlers: 0 }, /^option: 0 is neither true nor false/],
  ]);

  // `listen` is an option of both; the error names embedded(), which is the default.
  const inEmbedded = Object.keys(embeddedChecks).map((option) => [option, 'embedded'] as const);
  const inRabbitmq = Object.keys(rabbitmqChecks)
    .filter((option) => !Object.hasOwn(embeddedChecks, option))
    .map((option) => [option, 'rabbitmq'] as const);
  it.each([...inEmbedded, ...inRabbitmq])('%s, which is an option of %s()', (option, broker) => {
    const text = `'${option}' is an option of ${broker}(): forRoot({ broker: ${broker}({ ${option} }) })`;
    expect(() => root({ [option]: 'x' })).toThrow(text);
  });

  it('without the secrets in what was written', () => {
    const message = (options: unknown): string => {
      try {
        DlxBrokerModule.forRoot(bad(options));
      } catch (error) {
        return (error as Error).message;
      }
      throw new Error('nothing was refused');
    };
    const users = [{ name: 'ada', password: 'Gimli' }];
    const client = { options: { host: 'h', password: 'Gimli' }, claim: 1 };
    for (const options of [
      'amqp://ada:Gimli@host',
      [{ listen: { users } }],
      { idempotencyStore: client },
      { backend: client },
      { broker: client },
      { random: client },
      { listen: { users: ['ada:Gimli'] } },
    ])
      expect(message(options)).toMatch(/^(?!.*Gimli).*DlxBrokerModule/);
  });

  it('nothing that is undefined: such an option is left out', () => {
    expect(resolveOptions({ prefetch: undefined, retry: undefined, topology: undefined } as never, 'x').prefetch).toBe(
      100,
    );
  });
});

describe('forRootAsync refuses', () => {
  const forRootAsync = (options: unknown) => DlxBrokerModule.forRootAsync(bad(options));
  refuses(forRootAsync, [
    [undefined, /undefined is not an object of options; write \{ inject/],
    [{ useValue: {} }, /'useValue' is no option; .*there are inject, useFactory, useClass, useExisting, imports/],
    [{ useFactory: {} }, /useFactory of forRootAsync of DlxBrokerModule: \{\} is not a function/],
    [{ name: 5, useFactory: () => ({}) }, /option 'name'/],
  ]);
});

describe('option topology and forFeature refuse', () => {
  const forFeature = (options: unknown) => DlxBrokerModule.forFeature(bad(options));
  const topology = (given: unknown) => readTopology(given, "option 'topology' of DlxBrokerModule");
  const queues = (given: unknown) => topology({ queues: [given] });
  refuses(topology, [
    [[], /option 'topology' of DlxBrokerModule: \[\] is not an object of options/],
    [{ queue: [] }, /did you mean 'queues'\? there are exchanges, queues, bindings/],
    [{ queues: { name: 'x' } }, /queues of option 'topology' .* is not a list/],
    [{ queues: [{ nam: 'x' }] }, /'nam' is no option; did you mean 'name'\?/],
    [{ exchanges: [{}] }, /name of exchanges\[0\] of option 'topology'/],
    [{ exchanges: [{ name: 'x', typ: 'topic' }] }, /did you mean 'type'\?/],
    [{ bindings: ['x'] }, /write \{ source: 'exchange', destination: 'queue'/],
    [{ bindings: [{ source: 'x' }] }, /destination of bindings\[0\]/],
    [{ bindings: [binding('', 'q', 'k')] }, /is the default exchange/],
  ]);
  refuses(queues, [
    [{}, /name of a queue of option 'topology' .* undefined is not a string/],
    [5, /5 is not an object of options; write a name/],
    ['x'.repeat(256), /is longer than 255 bytes/],
    [{ name: 'x', maxlength: 5 }, /queue 'x' of option 'topology' .* did you mean 'maxLength'\?/],
    [{ name: 'x', 'x-message-ttl': 5 }, /'x-message-ttl' is no option/],
    [{ name: 'x', ttl: '30' }, /ttl of queue 'x' of .* '30' has no unit/],
    [{ name: 'x', durable: 'yes' }, /durable of queue 'x' .* 'yes' is neither true nor false/],
    [{ name: 'x', deadLetter: ['a', 'b', 'c'] }, /is not an exchange and a routing key/],
    [{ name: 'x', deadLetter: { routingKey: 'k' } }, /names no exchange/],
    [{ name: 'x', deadLetter: { exchange: 'd', strategy: 'at-least-once' } }, /needs quorum: true beside it/],
    [{ name: 'x', quorum: { deliveryLimit: '5' } }, /deliveryLimit of quorum of queue 'x'/],
    [{ name: 'x', ttl: 1, arguments: { 'x-message-ttl': 2 } }, /x-message-ttl is 2 here and 1 in a setting beside it/],
    [{ name: 'x', arguments: new Map([['x-message-ttl', 5]]) }, /5 is no field such as .* plain object/],
  ]);
  refuses(run, [
    [
      () => queue('x', bad({ ttl: '1s', deadletter: 'd' })),
      /queue\('x'\): 'deadletter' is no option; did you mean 'deadLetter'\?/,
    ],
    [() => queue(bad(undefined)), /undefined is not a string/],
  ]);
  refuses(forFeature, [
    [undefined, /forFeature of DlxBrokerModule: undefined is not an object/],
    [{ queus: [] }, /did you mean 'queues'\?/],
    [{ broker: 5 }, /broker is no text/],
  ]);
});

describe('retry policies refuse', () => {
  const plan = (policy: unknown) => planRetry(bad(policy), { queue: 'orders', origin: '@Retry on Orders.create' });
  refuses(plan, [
    [undefined, /@Retry on Orders\.create: undefined is not an object/],
    [{}, /attempts is undefined; write a whole number/],
    [{ attempts: '3' }, /attempts: '3' is a string; write the number 3$/],
    [{ attempts: 3, backof: 1 }, /did you mean 'backoff'\? there are attempts, backoff/],
    [{ attempts: 3, backoff: '5' }, /backoff: '5' has no unit/],
    [{ attempts: 3, backoff: null }, /backoff/],
    [{ attempts: 3, backoff: true }, /backoff/],
    [{ attempts: 3, backoff: { type: 'fixed', dely: 1 } }, /did you mean 'delay'\?/],
    [{ attempts: 3, backoff: { type: 'fixed' } }, /backoff\.delay/],
    [{ attempts: 3, retryOn: 'Error' }, /retryOn: .*Error.* is neither a class of errors nor a function/],
    [{ attempts: 3, neverRetry: ['Error'] }, /neverRetry/],
    [{ attempts: 3, parkingLot: 5 }, /parkingLot/],
    [{ attempts: 3, timeout: '5' }, /timeout: '5' has no unit/],
    [{ attempts: 3, deadline: true }, /deadline/],
  ]);
  refuses(run, [[() => new RetryLater('5'), /RetryLater: '5' has no unit/]]);
});

describe('records and redrives refuse', () => {
  const record = (options: unknown) => new DlxRecordBuilder({}, bad(options)).build();
  const testing = (options: unknown) => new DlxTesting(bad(options));
  const harnessOf = (options: unknown) => harness(bad(options));
  const redrive = (request: unknown) => resolveRedrive(bad(request));
  refuses(record, [
    [{ priorty: 1 }, /did you mean 'priority'\?/],
    [{ priority: '1' }, /priority of DlxRecordBuilder: '1' is a string; write the number 1/],
    [{ persistent: 'no' }, /persistent of DlxRecordBuilder: 'no' is neither/],
    [{ expiration: '30' }, /expiration of DlxRecordBuilder: '30' has no unit/],
    [{ delay: '30' }, /delay of DlxRecordBuilder: '30' has no unit/],
    [{ messageId: 5 }, /messageId of DlxRecordBuilder: 5 is not a string/],
    [{ timestamp: 5 }, /timestamp of DlxRecordBuilder: 5 is not a Date/],
    [{ headers: 'x' }, /headers of DlxRecordBuilder: 'x' is not an object/],
    [{ cc: 'x' }, /cc of DlxRecordBuilder: 'x' is not a list of strings/],
    [{ exchange: {} }, /exchange of DlxRecordBuilder: \{\} is not a string/],
  ]);
  refuses(run, [
    [() => new DlxRecordBuilder({}).setHeaders(bad('x')), /headers of DlxRecordBuilder: 'x' is not an object/],
  ]);
  refuses(testing, [
    [{ timout: 5 }, /DlxTesting: 'timout' is no option; did you mean 'timeout'\?/],
    [{ timeout: '5s' }, /timeout of DlxTesting: '5s' is not a whole number/],
    [{ start: 'now' }, /^start of DlxTesting: 'now' is no time/],
    [{ rabbitmq: '5' }, /^rabbitmq of DlxTesting: '5' is not one of/],
  ]);
  refuses(harnessOf, [
    [{ start: new Date(Number.NaN) }, /start of harness: .* is no time/],
    [{ vhosts: 'x' }, /did you mean 'vhost'\?/],
    [{ rabbitmq: '5' }, /rabbitmq of harness: '5' is not one of/],
  ]);
  refuses(redrive, [
    [undefined, /redrive: undefined is not an object/],
    [{ from: 'x', persecond: 1 }, /did you mean 'perSecond'\?/],
    [{}, /from names no queue/],
    [{ from: [5] }, /from is \[5\]; write names of queues/],
    [{ from: 'x', perSecond: '5' }, /perSecond is '5'; write a number above 0/],
    [{ from: 'x', where: 'all' }, /where is 'all'; write/],
    [{ from: 'x', dryRun: 'yes' }, /dryRun is 'yes'; write true or false/],
    [{ from: 'x', circuit: true }, /redrive: circuit: true is not an object/],
    [{ from: 'x', circuit: { pauses: 1 } }, /did you mean 'pause'\?/],
  ]);
});

describe('the client refuses', () => {
  const emit = async (options: unknown) => {
    const client = new DlxClient({ backend: harness().backend, events: 'amq.topic' });
    await client.connect();
    return firstValueFrom(client.emit('order.created', {}, bad(options)), { defaultValue: undefined });
  };
  it.each([
    [
      'a misspelt option',
      { delya: '1s' },
      /options of emit: 'delya' is no option; did you mean 'delay'\? there are delay, messageId/,
    ],
    [
      'a delay in place of options',
      '1s',
      /options of emit: '1s' is not an object of options; write \{ delay: '10m' \}/,
    ],
    ['a delay without a unit', { delay: '10' }, /delay of emit: '10' has no unit/],
    ['a negative delay', { delay: -1 }, /is negative/],
    ['a message id of a number', { messageId: 5 }, /messageId of emit: 5 is not a string/],
  ])('%s', async (_, options, text) => {
    await expect(emit(options)).rejects.toThrow(text);
  });

  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  it.each([
    ['a big integer', 5n, 'none', /^the data of 'order\.created' cannot be written as JSON: .*BigInt/],
    ['a circular object', circular, 'none', /^the data of 'order\.created' cannot be written as JSON: .*circular/],
    ['a big integer in a packet', 5n, 'nest', /^the data of 'order\.created' cannot be written as JSON: .*BigInt/],
  ] as const)('%s as data, by the name of the pattern', async (_, data, envelope, text) => {
    const client = new DlxClient({ backend: harness().backend, events: 'amq.topic', envelope });
    await client.connect();
    await expect(firstValueFrom(client.emit('order.created', data))).rejects.toThrow(text);
    await expect(firstValueFrom(client.send('order.created', data))).rejects.toThrow(text);
  });

  it.each([
    [
      'undefined data',
      'order.created',
      undefined,
      /of 'order\.created': the data are undefined; write \{\}, or new DlxRecordBuilder\(undefined\)\.build\(\)/,
    ],
    [
      'null as data',
      'order.created',
      null,
      /of 'order\.created': the data are null; .*new DlxRecordBuilder\(null\)\.build\(\)/,
    ],
    ['no pattern', undefined, {}, /: the pattern is undefined; write the routing key, such as 'order\.created'/],
  ])('%s, and says what to write', async (_, pattern, data, text) => {
    const client = new DlxClient({ backend: harness().backend, events: 'amq.topic' });
    await client.connect();
    await expect(firstValueFrom(client.emit(bad(pattern), data))).rejects.toThrow(text);
    await expect(firstValueFrom(client.send(bad(pattern), data))).rejects.toThrow(text);
    for (const meant of [undefined, null]) {
      const record = new DlxRecordBuilder(meant).build();
      await expect(firstValueFrom(client.emit('order.created', record))).resolves.toBeUndefined();
    }
  });

  it.each([
    ['the default exchange', { exchange: '' }],
    ['a queue without packets', { queue: 'orders' }],
  ])('%s as the target of a client, and says how to send to a queue', (_, target) => {
    const client = new DlxClient({ backend: harness().backend });
    expect(() => client.to(target)).toThrow(
      "to send to queue 'orders' directly, write emit('orders', new DlxRecordBuilder(data).setExchange('').build())",
    );
  });

  it('nothing of what may be left out', async () => {
    expect(await emit({ delay: undefined, messageId: undefined })).toBeUndefined();
  });
});

describe('an unknown handler is refused, with the names of those there are', () => {
  class Payments {
    pay(): void {}
    refund(): void {}
  }
  Consume('due')(Payments.prototype, 'pay', Object.getOwnPropertyDescriptor(Payments.prototype, 'pay') as never);
  Consume('back')(Payments.prototype, 'refund', Object.getOwnPropertyDescriptor(Payments.prototype, 'refund') as never);

  it.each([
    ['Payments.pya', "; did you mean 'Payments.pay'? there are Payments.pay, Payments.refund"],
    ['Shipping', '; there are Payments.pay, Payments.refund'],
  ])('%s', async (name, end) => {
    const dlx = await DlxTesting.create({ providers: [Payments] }, { logger: false });
    expect(() => dlx.handler(name)).toThrow(`there is no handler '${name}' in broker 'default'${end}`);
    await dlx.close();
  });
});
