import { describe, expect, it } from 'vitest';
import { DlxConfigurationError } from '../../platform/options/index.js';
import { contributionsOf } from '../decorators/contribution.js';
import * as decorators from '../decorators/index.js';
import { featureDecorators } from '../features/index.js';
import { type HandlerSettings, readSettings } from './handler-settings.js';

const { Bind, Consume, ConsumerPriority, DeadLetter, Exchange, Expires, MaxLength, MaxLengthBytes, MaxPriority } =
  decorators;
const { Prefetch, Queue, QueueArguments, Quorum, Retry, SingleActiveConsumer, Ttl } = decorators;

/** What these decorators say, above a method `OrdersController.created`. */
function settingsOf(...above: readonly MethodDecorator[]): HandlerSettings {
  const method = (): void => undefined;
  for (const decorate of above.toReversed()) decorate({}, 'created', { value: method } as never);
  return readSettings(contributionsOf(method), 'OrdersController.created', featureDecorators);
}

const argumentsOf = (...above: readonly MethodDecorator[]): Record<string, unknown> =>
  Object.fromEntries([...settingsOf(...above).queueArguments].map(([name, field]) => [name, field.value]));

describe('a decorator becomes one argument of the queue:', () => {
  it.each([
    ['@Ttl', Ttl('30s'), { 'x-message-ttl': 30_000 }],
    ['@Ttl in words', Ttl('5 minutes'), { 'x-message-ttl': 300_000 }],
    ['@Ttl of nothing', Ttl(0), { 'x-message-ttl': 0 }],
    ['@Expires', Expires('1h'), { 'x-expires': 3_600_000 }],
    ['@MaxLength', MaxLength(5), { 'x-max-length': 5 }],
    [
      '@MaxLength, overflow',
      MaxLength(5, { overflow: 'reject-publish' }),
      { 'x-max-length': 5, 'x-overflow': 'reject-publish' },
    ],
    ['@MaxLengthBytes', MaxLengthBytes(500), { 'x-max-length-bytes': 500 }],
    ['@Quorum', Quorum({ deliveryLimit: 3 }), { 'x-queue-type': 'quorum', 'x-delivery-limit': 3 }],
    ['@MaxPriority', MaxPriority(10), { 'x-max-priority': 10 }],
    ['@SingleActiveConsumer', SingleActiveConsumer(), { 'x-single-active-consumer': true }],
    ['@DeadLetter', DeadLetter('dlx'), { 'x-dead-letter-exchange': 'dlx' }],
    ['@DeadLetter, key', DeadLetter('', 'dead'), { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' }],
    ['@QueueArguments', QueueArguments({ 'x-queue-mode': 'lazy' }), { 'x-queue-mode': 'lazy' }],
    ['@Queue', Queue({ name: 'q', arguments: { 'x-queue-version': 2 } }), { 'x-queue-version': 2 }],
  ])('%s', (_, decorator, expected) => expect(argumentsOf(decorator)).toEqual(expected));

  it('in any order', () => {
    const above = [Ttl('1s'), MaxLength(1), DeadLetter('dlx'), Consume('q')];
    expect(argumentsOf(...above.toReversed())).toEqual(argumentsOf(...above));
  });
});

it('a decorator becomes an option of the consumer', () => {
  expect(settingsOf(Prefetch(7), ConsumerPriority(-1))).toMatchObject({ prefetch: 7, priority: -1 });
});

it('exchanges and bindings are kept in order', () => {
  const { exchanges, bindings } = settingsOf(
    Exchange('a'),
    Bind('b', ['x.*', '#.y']),
    Exchange('c', { type: 'fanout' }),
  );
  expect(exchanges).toEqual([{ name: 'a' }, { name: 'c', type: 'fanout' }]);
  expect(bindings).toMatchObject([{ exchange: 'b', routingKeys: ['x.*', '#.y'] }]);
});

describe('at-least-once (rule M1)', () => {
  const safe = DeadLetter({ exchange: 'dlx', strategy: 'at-least-once' });

  it('gets the overflow it needs', () => expect(argumentsOf(safe, Quorum())['x-overflow']).toBe('reject-publish'));
  it('is refused on a classic queue', () => expect(() => argumentsOf(safe)).toThrow(/needs @Quorum\(\)/));
  it('is refused with another overflow', () =>
    expect(() => argumentsOf(safe, Quorum(), MaxLength(1, { overflow: 'drop-head' }))).toThrow(/it is 'drop-head'/));
});

describe('bad input names decorator, handler and value:', () => {
  const wrong = (value: unknown): never => value as never;
  it.each([
    [Ttl('soon'), "@Ttl on OrdersController.created: 'soon' is not a duration"],
    [Ttl(-1), '@Ttl on OrdersController.created: -1 is negative'],
    [Ttl(1.5), '@Ttl on OrdersController.created: 1.5 is not a whole number'],
    [Ttl(wrong({})), '@Ttl on OrdersController.created: {} is not a duration'],
    [Expires(0), '@Expires on OrdersController.created: 0 is less than 1 ms'],
    [MaxLength(-1), '@MaxLength on OrdersController.created: -1 is less than 0'],
    [
      MaxLength(1, { overflow: wrong('drop') }),
      "overflow of @MaxLength on OrdersController.created: 'drop' is not one of drop-head",
    ],
    [MaxPriority(256), '@MaxPriority on OrdersController.created: 256 is not between 1 and 255'],
    [Prefetch(70_000), '@Prefetch on OrdersController.created: 70000 is not between'],
    [DeadLetter(wrong(5)), 'exchange of @DeadLetter on OrdersController.created: 5 is not a string'],
    [
      DeadLetter({ exchange: 'x', strategy: wrong('twice') }),
      "strategy of @DeadLetter on OrdersController.created: 'twice'",
    ],
    [DeadLetter({ exchange: 'x', key: 'y' } as never), "@DeadLetter on OrdersController.created: 'key' is no option"],
    [Queue({ name: 'q', durabel: true } as never), "@Queue on OrdersController.created: 'durabel' is no option"],
    [
      Queue({ durable: wrong('yes') }),
      "durable of @Queue on OrdersController.created: 'yes' is neither true nor false",
    ],
    [Bind(''), "@Bind on OrdersController.created: '' is the default exchange"],
    [Bind('x', wrong(5)), 'routingKey of @Bind on OrdersController.created: 5 is not a string'],
    [
      Retry(wrong('3')),
      "@Retry on OrdersController.created: '3' is no policy: write { attempts: 5 }, or false for none",
    ],
    [Consume({ queue: wrong(5) }), 'queue of @Consume on OrdersController.created: 5 is not a string'],
  ])('%#', (decorator, text) => {
    expect(() => settingsOf(decorator)).toThrow(DlxConfigurationError);
    expect(() => settingsOf(decorator)).toThrow(text);
  });

  it('and two that contradict each other', () => {
    expect(() => settingsOf(Ttl('1s'), Ttl('2s'))).toThrow(
      /x-message-ttl is 2000 here and 1000|x-message-ttl is 1000 here/,
    );
    expect(() => settingsOf(Queue('a'), Queue('b'))).toThrow(
      '@Queue on OrdersController.created: it is there 2 times; write it once',
    );
  });
});
