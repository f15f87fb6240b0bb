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
import { allDecorators } from '../../../../../test/harnesses/all-decorators.js';
import { RetryLater } from './outcomes.js';
import { DlxRecordBuilder } from '../client/record-builder.js';

/*
 * What users write wrong: of another type, undefined, misspelt, or in the wrong place. Every one is refused by an error that
 * says where it stands, what is wrong and what there is instead. The casts stand for JavaScript, and for values of `any`.
 */

type Any = never;
type Case = readonly [what: string, attempt: () => unknown, text: RegExp];

const { Bind, Consume, ConsumerPriority, DeadLetter, Exchange, Expires, MaxLength, MaxLengthBytes } = decorators;
const { MaxPriority, Prefetch, Queue, QueueArguments, Quorum, Retry, SingleActiveConsumer, Ttl } = decorators;
const { Answer, Circuit, event, Idempotent, On, Ordered, request } = features;

/** The settings of a method `Orders.create` below these decorators. */
function above(...all: readonly MethodDecorator[]) {
  const method = (): void => undefined;
  for (const decorate of all) decorate({}, 'create', { value: method } as Any);
  return readSettings(contributionsOf(method), 'Orders.create', features.featureDecorators);
}

function refuses(cases: readonly Case[]): void {
  it.each(cases)('%s', (_, attempt, text) => {
    expect(attempt).toThrow(DlxConfigurationError);
    expect(attempt).toThrow(text);
  });
}

const bad = (value: unknown): Any => value as Any;

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
  const noUnit = /@\w+ on Orders\.create: '30' has no unit; write 30 for milliseconds, or a string such as '30s'/;
  refuses([
    ['@Ttl of a string without a unit', () => above(Ttl('30')), noUnit],
    [
      '@Ttl of undefined',
      () => above(Ttl(bad(undefined))),
      /@Ttl on Orders\.create: undefined where a value is expected/,
    ],
    ['@Ttl of null', () => above(Ttl(bad(null))), /null is not a duration/],
    ['@Ttl of an object', () => above(Ttl(bad({ s: 3 }))), /\{"s":3\} is not a duration/],
    ['@Expires of a string without a unit', () => above(Expires('30')), noUnit],
    ['@Expires of 0', () => above(Expires(0)), /0 is less than 1 ms/],
    [
      '@MaxLength of a string',
      () => above(MaxLength(bad('5'))),
      /MaxLength on Orders\.create: '5' is a string; write the number 5$/,
    ],
    ['@MaxPriority of a string out of bounds', () => above(MaxPriority(bad('256'))), /'256' is not a whole number/],
    ['@MaxLength of words', () => above(MaxLength(bad('five'))), /'five' is not a whole number/],
    ['@MaxLength of a long number', () => above(MaxLength(bad('9'.repeat(99)))), /'9+' is not a whole number/],
    ['@MaxLength of NaN', () => above(MaxLength(Number.NaN)), /NaN is not a whole number/],
    [
      '@MaxLength, overflow in its place',
      () => above(MaxLength(5, bad('reject-publish'))),
      /write \{ overflow: 'reject-publish' \} behind/,
    ],
    [
      '@MaxLength, a misspelt option',
      () => above(MaxLength(5, bad({ overfow: 'drop-head' }))),
      /did you mean 'overflow'\? there is overflow$/,
    ],
    [
      '@MaxLength, an overflow there is not',
      () => above(MaxLength(5, bad({ overflow: 'drop' }))),
      /is not one of drop-head/,
    ],
    ['@MaxLengthBytes of infinity', () => above(MaxLengthBytes(Infinity)), /Infinity is not a whole number/],
    ['@Quorum of a number', () => above(Quorum(bad(5))), /5 is not an object of options; write \{ deliveryLimit: 5 \}/],
    ['@Quorum, a misspelt option', () => above(Quorum(bad({ deliverylimit: 5 }))), /did you mean 'deliveryLimit'\?/],
    ['@MaxPriority of 256', () => above(MaxPriority(256)), /256 is not between 1 and 255/],
    [
      '@Prefetch of a string',
      () => above(Prefetch(bad('10'))),
      /@Prefetch on Orders\.create: '10' is a string; write the number 10$/,
    ],
    [
      '@DeadLetter of undefined',
      () => above(DeadLetter(bad(undefined))),
      /exchange of @DeadLetter on Orders\.create: undefined where a value is expected; write @DeadLetter\('orders\.dlx'\), or @DeadLetter\(false\) if/,
    ],
    [
      '@ConsumerPriority of undefined',
      () => above(ConsumerPriority(bad(undefined))),
      /undefined where a value is expected; write @ConsumerPriority\(10\)$/,
    ],
    [
      '@Retry of undefined',
      () => above(Retry(bad(undefined))),
      /policy of @Retry on Orders\.create: undefined where a value is expected; write @Retry\(\{ attempts: 5 \}\), or @Retry\(false\) for no/,
    ],
    [
      '@Bind of undefined',
      () => above(Bind(bad(undefined))),
      /exchange of @Bind on Orders\.create: undefined where a value is expected; write @Bind\('shop', 'order\.\*'\)$/,
    ],
    [
      '@Consume of undefined',
      () => above(Consume(bad(undefined))),
      /@Consume on Orders\.create: undefined is not an object of options; write 'orders'/,
    ],
    ['@Consume of a number', () => above(Consume(bad(5))), /5 is not an object of options/],
    ['@Consume of a list', () => above(Consume(bad(['a', 'b']))), /\["a","b"\] is not an object of options/],
    [
      '@Consume, queue undefined',
      () => above(Consume(bad({ queue: undefined }))),
      /queue of @Consume on Orders\.create: undefined/,
    ],
    [
      '@Consume, a misspelt option',
      () => above(Consume(bad({ routingkey: 'x' }))),
      /'routingkey' is no option; did you mean 'routingKey'\? there are queue, exchange, routingKey, envelope, broker/,
    ],
    ['@Consume, the default exchange', () => above(Consume({ exchange: '' })), /'' is the default exchange/],
    [
      '@Consume, an exchange without a name',
      () => above(Consume(bad({ exchange: { type: 'topic' } }))),
      /name of exchange of @Consume/,
    ],
    [
      '@Consume, a misspelt option of its exchange',
      () => above(Consume(bad({ exchange: { name: 'x', durabel: true } }))),
      /did you mean 'durable'\?/,
    ],
    ['@Queue of undefined', () => above(Queue(bad(undefined))), /undefined is not an object of options/],
    [
      '@Queue, durable in words',
      () => above(Queue(bad({ durable: 'no' }))),
      /durable of @Queue .* 'no' is not a boolean/,
    ],
    ['@Queue, arguments null', () => above(Queue(bad({ arguments: null }))), /null is not an object of options/],
    ['@Exchange of undefined', () => above(Exchange(bad(undefined))), /name of @Exchange on Orders\.create: undefined/],
    [
      '@Exchange, type in its place',
      () => above(Exchange('x', bad('topic'))),
      /'topic' is not an object of options; write \{ type: 'direct' \}/,
    ],
    [
      '@Exchange, a misspelt option',
      () => above(Exchange('x', bad({ alternativeExchange: 'y' }))),
      /did you mean 'alternateExchange'\?/,
    ],
    ['@Bind of undefined', () => above(Bind(bad(undefined))), /exchange of @Bind on Orders\.create: undefined/],
    [
      '@Bind, the key undefined',
      () => above(Bind('x', bad(undefined))),
      /routingKey of @Bind on Orders\.create: undefined/,
    ],
    ['@Bind, a key that is a number', () => above(Bind('x', bad(5))), /5 is not a string/],
    ['@Bind, headers that are a string', () => above(Bind('x', '', bad('all'))), /'all' is not an object of options/],
    [
      '@DeadLetter of undefined',
      () => above(DeadLetter(bad(undefined))),
      /exchange of @DeadLetter on Orders\.create: undefined/,
    ],
    [
      '@DeadLetter of null',
      () => above(DeadLetter(bad(null))),
      /null is not an object of options; write 'exchange', 'key'/,
    ],
    [
      '@DeadLetter, the key undefined',
      () => above(DeadLetter('x', bad(undefined))),
      /routingKey of @DeadLetter .* undefined/,
    ],
    [
      '@DeadLetter, a misspelt option',
      () => above(DeadLetter(bad({ exchange: 'x', routing_key: 'y' }))),
      /did you mean 'routingKey'\?/,
    ],
    ['@DeadLetter of true', () => above(DeadLetter(bad(true))), /exchange of @DeadLetter .* true is not a string/],
    [
      '@DeadLetter, with an exchange and with false',
      () => above(DeadLetter('x'), DeadLetter(false)),
      /with an exchange and with false/,
    ],
    [
      '@QueueArguments of undefined',
      () => above(QueueArguments(bad(undefined))),
      /arguments of @QueueArguments .* undefined/,
    ],
    ['@QueueArguments of a list', () => above(QueueArguments(bad([1]))), /\[1\] is not an object/],
    [
      '@QueueArguments, a function',
      () => above(QueueArguments({ 'x-a': () => 1 })),
      /is a function, which cannot be sent/,
    ],
    ['@Retry of undefined', () => above(Retry(bad(undefined))), /policy of @Retry on Orders\.create: undefined/],
    ['@Retry of a number', () => above(Retry(bad(3))), /3 is no policy: write \{ attempts: 5 \}/],
    ['@Retry of true', () => above(Retry(bad(true))), /true is no policy/],
    ['@Idempotent of a string', () => above(Idempotent(bad('id'))), /'id' is not an object of options; write \{ key:/],
    [
      '@Idempotent, a key that is a string',
      () => above(Idempotent(bad({ key: 'id' }))),
      /key of @Idempotent .* 'id' is not a function/,
    ],
    ['@Idempotent, a time without a unit', () => above(Idempotent({ ttl: '24' })), /'24' has no unit/],
    [
      '@Idempotent, a store that is none',
      () => above(Idempotent(bad({ store: {} }))),
      /is no IdempotencyStore: it has no method claim\(\)/,
    ],
    [
      '@Circuit, a misspelt option: the name of the circuit is not among the options',
      () => above(Circuit(bad({ atleast: 2 }))),
      /did you mean 'atLeast'\? there are on, share,/,
    ],
    ['@Quorum, a misspelt option', () => above(Quorum(bad({ deliverylimit: 2 }))), /there is deliveryLimit$/],
    ['@Exchange, a misspelt option', () => above(Exchange('x', bad({ typ: 2 }))), /there are type, durable,/],
    [
      '@Idempotent, a key that is a string: what to write',
      () => above(Idempotent(bad({ key: 'id' }))),
      /'id' is not a function; write \(order\) => order\.id$/,
    ],
    [
      '@Ordered, a key that is a string: what to write',
      () => above(Ordered(bad({ key: 'id' }))),
      /'id' is not a function; write \(order\) => order\.id$/,
    ],
    [
      '@On with a request',
      () => above(bad(On(bad(request('order.price'))))),
      /contract of @On on Orders\.create: request\('order\.price'\) is no event; write @Answer for a request$/,
    ],
    [
      '@Answer with an event',
      () => above(bad(Answer(bad(event('order.created'))))),
      /contract of @Answer on Orders\.create: event\('order\.created'\) is no request; write @On for an event$/,
    ],
    [
      '@On with a string',
      () => above(bad(On(bad('order.created')))),
      /'order\.created' is no contract; write event\('order\.created'\), or @Consume with a routingKey$/,
    ],
    [
      '@Answer with a string',
      () => above(bad(Answer(bad('price')))),
      /'price' is no contract; write request\('order\.price'\)$/,
    ],
    [
      '@On with undefined, as files that import each other have it',
      () => above(bad(On(bad(undefined)))),
      /undefined is no contract; if its file imports this one, move the contract into a file of its own/,
    ],
    [
      '@Consume twice',
      () => above(Consume('a'), Consume('b')),
      /@Consume on Orders\.create: it is there 2 times; write it once/,
    ],
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
  refuses([
    ['a class', on(Orders), /@Consume stands above the class Orders; it is for methods/],
    ['a property', on(Orders.prototype, 'name'), /@Consume stands above the property Orders\.name; it is for methods/],
    ['an accessor', on(Orders.prototype, 'queue', descriptor), /above the accessor or property Orders\.queue/],
    ['a static method', on(Orders, 'handle', { value: Orders.handle }), /above the static member Orders\.handle/],
    ['a parameter', on(Orders.prototype, 'handle', 0), /above a parameter of Orders\.handle/],
  ]);
});

describe('forRoot refuses', () => {
  const root = (options: unknown) => () => checkOptions(bad(options), 'default');
  const about = (option: string, rest: string): RegExp =>
    new RegExp(`option '${option}' of DlxBrokerModule \\(broker 'default'\\): ${rest}`);
  refuses([
    ['what is no object', root('amqp://localhost'), /'amqp:\/\/localhost' is not an object of options/],
    ['null', () => DlxBrokerModule.forRoot(bad(null)), /null is not an object of options/],
    ['a list', root([]), /\[\] is not an object of options/],
    [
      'an option misspelt',
      root({ prefecth: 1 }),
      /'prefecth' is no option; did you mean 'prefetch'\? there are name, isGlobal/,
    ],
    ['an option of another library', root({ uri: 'amqp://' }), /'uri' is no option; there are name/],
    ['name of a number', root({ name: 5 }), about('name', '5 is not a string')],
    ['isGlobal in words', root({ isGlobal: 'yes' }), about('isGlobal', "'yes' is neither true nor false")],
    ['broker that is a port', root({ broker: 5672 }), about('broker', 'number is no broker; write embedded\\(\\), ')],
    [
      'broker that is an address',
      root({ broker: 'amqp://' }),
      about(
        'broker',
        "a string is no broker; write rabbitmq\\(\\{ urls: '...' \\}\\) for a server, or embedded\\(\\) ",
      ),
    ],
    ['broker that is nothing', root({ broker: null }), about('broker', 'object is no broker')],
    ['broker, embedded that is not called', root({ broker: embedded }), about('broker', 'function is no broker')],
    ['broker, options alone', root({ broker: { dataDir: './data' } }), about('broker', 'object is no broker')],
    [
      'broker, a kind that was not checked',
      root({ broker: { kind: 'embedded', options: { dataDri: 5 } } }),
      about('broker', 'object is no broker'),
    ],
    [
      'broker that is an engine',
      root({ broker: harness().broker }),
      about('broker', 'is a Broker of dlx-broker/engine; write broker: sharedBroker\\(broker\\)'),
    ],
    [
      'broker that is a backend',
      root({ broker: harness().backend }),
      about('broker', 'is a Backend; write broker: customBackend\\(backend\\)'),
    ],
    ...Object.keys(embeddedChecks).map((option): Case => [
      `${option}, which is an option of embedded()`,
      root({ [option]: 'x' }),
      new RegExp(`'${option}' is an option of embedded\\(\\): forRoot\\({ broker: embedded\\({ ${option} }\\) }\\)$`),
    ]),
    // `listen` is an option of both; the error names embedded(), which is the default.
    ...Object.keys(rabbitmqChecks)
      .filter((option) => !Object.hasOwn(embeddedChecks, option))
      .map((option): Case => [
        `${option}, which is an option of rabbitmq()`,
        root({ [option]: 'x' }),
        new RegExp(`'${option}' is an option of rabbitmq\\(\\): forRoot\\({ broker: rabbitmq\\({ ${option} }\\) }\\)$`),
      ]),
    [
      'backend',
      root({ backend: harness().backend }),
      /'backend' is an option of customBackend\(\): forRoot\(\{ broker: customBackend\(backend\) \}\)$/,
    ],
    ['events of a number', root({ events: 5 }), about('events', '5 is not an object of options; write a name')],
    ['events, a misspelt option', root({ events: { name: 'x', typ: 'topic' } }), /did you mean 'type'\?/],
    ['requests empty', root({ requests: '' }), about('requests', "'' is empty")],
    ['prefetch in words', root({ prefetch: '10' }), about('prefetch', "'10' is a string; write the number 10$")],
    ['drainTimeout without a unit', root({ drainTimeout: '10' }), about('drainTimeout', "'10' has no unit")],
    ['drainTimeout null', root({ drainTimeout: null }), about('drainTimeout', 'null is not a duration')],
    ['errorHeaders in words', root({ errorHeaders: 'no' }), about('errorHeaders', "'no' is not an object")],
    ['errorHeaders, a misspelt option', root({ errorHeaders: { stak: 5 } }), /did you mean 'stack'\?/],
    [
      'retry of a number',
      root({ retry: 3 }),
      about('retry', '3 is not an object of options; write \\{ attempts: 5 \\}'),
    ],
    [
      'retry, a misspelt option, before any handler uses it',
      root({ retry: { attemps: 3 } }),
      about('retry', "'attemps' is no option; did you mean 'attempts'\\?"),
    ],
    [
      'queueRetry, a value that is none',
      root({ queueRetry: { orders: { attempts: 'three' } } }),
      /queue 'orders': attempts is 'three'; write a whole number from 1 up/,
    ],
    ['queueRetry of a list', root({ queueRetry: [] }), about('queueRetry', '\\[\\] is not an object')],
    ['queueRetry of a queue', root({ queueRetry: { orders: 3 } }), /queue 'orders': 3 is not an object of options/],
    ['random of a number', root({ random: 0.5 }), about('random', '0.5 is not a function')],
    [
      'notices of true',
      root({ notices: true }),
      about('notices', "true is not the name of an exchange; write 'dlx\\.notices'"),
    ],
    [
      'notices to the exchange of events',
      root({ notices: 'dlx.events' }),
      /option 'notices' .*'dlx\.events' is the exchange of option 'events', .* an exchange of their own/,
    ],
    [
      'notices to the exchange of requests',
      root({ notices: 'mine', requests: { name: 'mine', type: 'topic' } }),
      /'mine' is the exchange of option 'requests'/,
    ],
    ['notices of nothing', root({ notices: '' }), about('notices', "'' is not the name of an exchange")],
    [
      'tracing of true',
      root({ tracing: true }),
      /option 'tracing' of DlxBrokerModule \(broker 'default'\): 'boolean' is no tracing, such as dlxTracing\(\)/,
    ],
    [
      'idempotencyStore of a Map',
      root({ idempotencyStore: new Map() }),
      /is no IdempotencyStore: it has no method claim/,
    ],
    [
      'waitQueueType misspelt',
      root({ waitQueueType: 'qourum' }),
      about('waitQueueType', "'qourum' is not one of classic, quorum"),
    ],
    [
      'clusterTopology in words',
      root({ clusterTopology: 'yes' }),
      about('clusterTopology', "'yes' is not an object of options"),
    ],
    [
      'deliveryLimit of clusterTopology misspelt',
      root({ clusterTopology: { deliverylimit: 5 } }),
      /option 'clusterTopology' of .*deliverylimit/,
    ],
    [
      'deliveryLimit of clusterTopology below 0',
      root({ clusterTopology: { deliveryLimit: -1 } }),
      /option 'clusterTopology' of .*deliveryLimit.*-1/,
    ],
    ['declare in words', root({ declare: 'no' }), about('declare', "'no' is neither true nor false")],
    ['logHandlers of a number', root({ logHandlers: 0 }), about('logHandlers', '0 is neither true nor false')],
  ]);

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
    expect(resolveOptions({ prefetch: undefined, retry: undefined, topology: undefined } as Any, 'x').prefetch).toBe(
      100,
    );
  });
});

describe('forRootAsync refuses', () => {
  refuses([
    [
      'nothing',
      () => DlxBrokerModule.forRootAsync(bad(undefined)),
      /undefined is not an object of options; write \{ inject/,
    ],
    [
      'useValue',
      () => DlxBrokerModule.forRootAsync(bad({ useValue: {} })),
      /'useValue' is no option; .*there are inject, useFactory, useClass, useExisting, imports/,
    ],
    [
      'a factory that is none',
      () => DlxBrokerModule.forRootAsync(bad({ useFactory: {} })),
      /useFactory of forRootAsync of DlxBrokerModule: \{\} is not a function/,
    ],
    [
      'a name of a number',
      () => DlxBrokerModule.forRootAsync(bad({ name: 5, useFactory: () => ({}) })),
      /option 'name'/,
    ],
  ]);
});

describe('option topology and forFeature refuse', () => {
  const topology = (given: unknown) => () => readTopology(given, "option 'topology' of DlxBrokerModule");
  const queues = (...all: unknown[]) => topology({ queues: all });
  refuses([
    ['a list', topology([]), /option 'topology' of DlxBrokerModule: \[\] is not an object of options/],
    ['queue for queues', topology({ queue: [] }), /did you mean 'queues'\? there are exchanges, queues, bindings/],
    ['queues that are no list', topology({ queues: { name: 'x' } }), /queues of option 'topology' .* is not a list/],
    ['a queue without a name', queues({}), /name of a queue of option 'topology' .* undefined is not a string/],
    ['a queue of a number', queues(5), /5 is not an object of options; write a name/],
    ['a queue, a name too long', queues('x'.repeat(256)), /is longer than 255 bytes/],
    ['a queue, its name misspelt', topology({ queues: [{ nam: 'x' }] }), /'nam' is no option; did you mean 'name'\?/],
    [
      'a queue, a misspelt word',
      queues({ name: 'x', maxlength: 5 }),
      /queue 'x' of option 'topology' .* did you mean 'maxLength'\?/,
    ],
    ['a queue, an argument as a word', queues({ name: 'x', 'x-message-ttl': 5 }), /'x-message-ttl' is no option/],
    ['a queue, a ttl without a unit', queues({ name: 'x', ttl: '30' }), /ttl of queue 'x' of .* '30' has no unit/],
    [
      'a queue, durable in words',
      queues({ name: 'x', durable: 'yes' }),
      /durable of queue 'x' .* 'yes' is neither true nor false/,
    ],
    [
      'a queue, three dead-letter words',
      queues({ name: 'x', deadLetter: ['a', 'b', 'c'] }),
      /is not an exchange and a routing key/,
    ],
    [
      'a queue, a dead letter without an exchange',
      queues({ name: 'x', deadLetter: { routingKey: 'k' } }),
      /names no exchange/,
    ],
    [
      'a queue, at-least-once alone',
      queues({ name: 'x', deadLetter: { exchange: 'd', strategy: 'at-least-once' } }),
      /needs quorum: true beside it/,
    ],
    [
      'a queue, a limit in words',
      queues({ name: 'x', quorum: { deliveryLimit: '5' } }),
      /deliveryLimit of quorum of queue 'x'/,
    ],
    [
      'a queue, a word and another argument',
      queues({ name: 'x', ttl: 1, arguments: { 'x-message-ttl': 2 } }),
      /x-message-ttl is 2 here and 1 in a setting beside it/,
    ],
    [
      'a queue, a Map of plain values',
      queues({ name: 'x', arguments: new Map([['x-message-ttl', 5]]) }),
      /5 is no field such as .* plain object/,
    ],
    [
      'queue() of a misspelt word',
      () => queue('x', bad({ ttl: '1s', deadletter: 'd' })),
      /queue\('x'\): 'deadletter' is no option; did you mean 'deadLetter'\?/,
    ],
    ['queue() without a name', () => queue(bad(undefined)), /undefined is not a string/],
    ['an exchange without a name', topology({ exchanges: [{}] }), /name of exchanges\[0\] of option 'topology'/],
    ['an exchange, a misspelt word', topology({ exchanges: [{ name: 'x', typ: 'topic' }] }), /did you mean 'type'\?/],
    ['a binding of names', topology({ bindings: ['x'] }), /write \{ source: 'exchange', destination: 'queue'/],
    ['a binding without a queue', topology({ bindings: [{ source: 'x' }] }), /destination of bindings\[0\]/],
    ['a binding to the default exchange', topology({ bindings: [binding('', 'q', 'k')] }), /is the default exchange/],
    [
      'forFeature of nothing',
      () => DlxBrokerModule.forFeature(bad(undefined)),
      /forFeature of DlxBrokerModule: undefined is not an object/,
    ],
    ['forFeature, a misspelt word', () => DlxBrokerModule.forFeature(bad({ queus: [] })), /did you mean 'queues'\?/],
    ['forFeature, broker of a number', () => DlxBrokerModule.forFeature(bad({ broker: 5 })), /broker is no text/],
  ]);
});

describe('retry policies refuse', () => {
  const plan = (policy: unknown) => () =>
    planRetry(bad(policy), { queue: 'orders', origin: '@Retry on Orders.create' });
  refuses([
    ['nothing', plan(undefined), /@Retry on Orders\.create: undefined is not an object/],
    ['no attempts', plan({}), /attempts is undefined; write a whole number/],
    ['attempts in words', plan({ attempts: '3' }), /attempts: '3' is a string; write the number 3$/],
    ['a misspelt option', plan({ attempts: 3, backof: 1 }), /did you mean 'backoff'\? there are attempts, backoff/],
    ['a backoff without a unit', plan({ attempts: 3, backoff: '5' }), /backoff: '5' has no unit/],
    ['a backoff of null', plan({ attempts: 3, backoff: null }), /backoff/],
    ['a backoff of true', plan({ attempts: 3, backoff: true }), /backoff/],
    [
      'a backoff, a misspelt option',
      plan({ attempts: 3, backoff: { type: 'fixed', dely: 1 } }),
      /did you mean 'delay'\?/,
    ],
    ['a backoff without a delay', plan({ attempts: 3, backoff: { type: 'fixed' } }), /backoff\.delay/],
    [
      'retryOn of a string',
      plan({ attempts: 3, retryOn: 'Error' }),
      /retryOn: .*Error.* is neither a class of errors nor a function/,
    ],
    ['neverRetry of a list of strings', plan({ attempts: 3, neverRetry: ['Error'] }), /neverRetry/],
    ['a parking lot of a number', plan({ attempts: 3, parkingLot: 5 }), /parkingLot/],
    ['a timeout without a unit', plan({ attempts: 3, timeout: '5' }), /timeout: '5' has no unit/],
    ['a deadline of true', plan({ attempts: 3, deadline: true }), /deadline/],
    ['a wait of RetryLater without a unit', () => new RetryLater('5'), /RetryLater: '5' has no unit/],
  ]);
});

describe('records and redrives refuse', () => {
  const record = (options: unknown) => () => new DlxRecordBuilder({}, bad(options)).build();
  const redrive = (request: unknown) => () => resolveRedrive(bad(request));
  refuses([
    ['a record, a misspelt option', record({ priorty: 1 }), /did you mean 'priority'\?/],
    [
      'a record, priority in words',
      record({ priority: '1' }),
      /priority of DlxRecordBuilder: '1' is a string; write the number 1/,
    ],
    ['a record, persistent in words', record({ persistent: 'no' }), /persistent of DlxRecordBuilder: 'no' is neither/],
    [
      'a record, expiration without a unit',
      record({ expiration: '30' }),
      /expiration of DlxRecordBuilder: '30' has no unit/,
    ],
    ['a record, delay without a unit', record({ delay: '30' }), /delay of DlxRecordBuilder: '30' has no unit/],
    [
      'a record, a message id of a number',
      record({ messageId: 5 }),
      /messageId of DlxRecordBuilder: 5 is not a string/,
    ],
    ['a record, a timestamp of a number', record({ timestamp: 5 }), /timestamp of DlxRecordBuilder: 5 is not a Date/],
    ['a record, headers of a string', record({ headers: 'x' }), /headers of DlxRecordBuilder: 'x' is not an object/],
    [
      'a record, setHeaders of a string',
      () => new DlxRecordBuilder({}).setHeaders(bad('x')),
      /headers of DlxRecordBuilder: 'x' is not an object/,
    ],
    ['a record, cc of a string', record({ cc: 'x' }), /cc of DlxRecordBuilder: 'x' is not a list of strings/],
    ['a record, exchange of an object', record({ exchange: {} }), /exchange of DlxRecordBuilder: \{\} is not a string/],
    ['a redrive of nothing', redrive(undefined), /redrive: undefined is not an object/],
    ['a redrive, a misspelt option', redrive({ from: 'x', persecond: 1 }), /did you mean 'perSecond'\?/],
    ['a redrive from nowhere', redrive({}), /from names no queue/],
    ['a redrive from a number', redrive({ from: [5] }), /from is \[5\]; write names of queues/],
    [
      'a redrive, perSecond in words',
      redrive({ from: 'x', perSecond: '5' }),
      /perSecond is '5'; write a number above 0/,
    ],
    ['a redrive, where of a string', redrive({ from: 'x', where: 'all' }), /where is 'all'; write/],
    ['a redrive, dryRun in words', redrive({ from: 'x', dryRun: 'yes' }), /dryRun is 'yes'; write true or false/],
    ['a redrive, circuit of true', redrive({ from: 'x', circuit: true }), /redrive: circuit: true is not an object/],
    [
      'a redrive, a misspelt option of the circuit',
      redrive({ from: 'x', circuit: { pauses: 1 } }),
      /did you mean 'pause'\?/,
    ],
    [
      'a test, a misspelt option',
      () => new DlxTesting(bad({ timout: 5 })),
      /DlxTesting: 'timout' is no option; did you mean 'timeout'\?/,
    ],
    [
      'a test, timeout in words',
      () => new DlxTesting(bad({ timeout: '5s' })),
      /timeout of DlxTesting: '5s' is not a whole number/,
    ],
    [
      'a test, a start that is no time',
      () => new DlxTesting(bad({ start: 'now' })),
      /^start of DlxTesting: 'now' is no time/,
    ],
    [
      'a test, another RabbitMQ',
      () => new DlxTesting(bad({ rabbitmq: '5' })),
      /^rabbitmq of DlxTesting: '5' is not one of/,
    ],
    [
      'a harness, a start that is no time',
      () => harness({ start: new Date(Number.NaN) }),
      /start of harness: .* is no time/,
    ],
    ['a harness, a misspelt option', () => harness(bad({ vhosts: 'x' })), /did you mean 'vhost'\?/],
    ['a harness, another RabbitMQ', () => harness(bad({ rabbitmq: '5' })), /rabbitmq of harness: '5' is not one of/],
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
  Consume('due')(Payments.prototype, 'pay', Object.getOwnPropertyDescriptor(Payments.prototype, 'pay') as Any);
  Consume('back')(Payments.prototype, 'refund', Object.getOwnPropertyDescriptor(Payments.prototype, 'refund') as Any);

  it.each([
    ['Payments.pya', "; did you mean 'Payments.pay'? there are Payments.pay, Payments.refund"],
    ['Shipping', '; there are Payments.pay, Payments.refund'],
  ])('%s', async (name, end) => {
    const dlx = await DlxTesting.create({ providers: [Payments] }, { logger: false });
    expect(() => dlx.handler(name)).toThrow(`there is no handler '${name}' in broker 'default'${end}`);
    await dlx.close();
  });
});
