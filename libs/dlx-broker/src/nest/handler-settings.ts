import type { Field, FieldTable } from '../message/index.js';
import {
  DlxConfigurationError,
  fieldOf,
  fieldTableOf,
  parseDuration,
  sameField,
  showField,
  type RetryPolicy,
} from '../topology/index.js';
import { refused } from './decorators/accepts.js';
import type { ConsumeOptions } from './decorators/consume.js';
import type { Contribution } from './decorators/contribution.js';
import type { ExchangeOptions } from './decorators/exchange.js';
import type { IdempotentOptions } from './decorators/idempotent.js';
import type { QueueOptions } from './decorators/queue.js';
import { decoratorTable, type DecoratorRow } from './decorators/table.js';
import type { Idempotence } from './idempotency/guard.js';

export interface NamedExchange extends ExchangeOptions {
  readonly name: string;
}

export interface ExtraBinding {
  readonly exchange: string;
  readonly routingKeys: readonly string[];
  readonly arguments: FieldTable;
}

/** Everything the decorators above one handler say, checked. */
export interface HandlerSettings {
  readonly queue: QueueOptions;
  readonly queueArguments: FieldTable;
  readonly exchanges: readonly NamedExchange[];
  readonly bindings: readonly ExtraBinding[];
  readonly consume: ConsumeOptions | undefined;
  readonly prefetch: number | undefined;
  readonly priority: number | undefined;
  /** False: none, whatever the module says. */
  readonly retry: RetryPolicy | false | undefined;
  readonly idempotence: Idempotence | undefined;
}

/** The options of the decorators that are not rows of the table. */
const freeOptions: Readonly<Record<string, readonly string[]>> = {
  Queue: ['name', 'durable', 'exclusive', 'autoDelete', 'declare', 'arguments'],
  Exchange: ['name', 'type', 'durable', 'autoDelete', 'internal', 'alternateExchange', 'arguments', 'declare'],
  Bind: ['exchange', 'routingKey', 'arguments'],
  Consume: ['queue', 'exchange', 'routingKey', 'broker'],
  QueueArguments: ['arguments'],
  Retry: ['policy'],
  Idempotent: ['key', 'ttl', 'lease', 'store'],
};

/**
 * @param handler class and method, for errors
 * @throws DlxConfigurationError naming the decorator, the handler and the value
 */
export function readSettings(contributions: readonly Contribution[], handler: string): HandlerSettings {
  const args = new Map<string, Field>();
  const consumer = new Map<string, Field>();
  for (const { decorator, settings } of contributions) {
    const origin = `@${decorator} on ${handler}`;
    for (const [setting, value] of Object.entries(settings)) {
      if (value === undefined) continue;
      const row = decoratorTable.find((row) => row.decorator === decorator && row.setting === setting);
      if (row === undefined) checkFree(decorator, setting, value, origin);
      else put(row.of === 'queue' ? args : consumer, row.becomes, read(row, value, origin), origin);
    }
    if (decorator === 'Queue' || decorator === 'QueueArguments') {
      const named = settings['arguments'] as Readonly<Record<string, unknown>> | undefined;
      for (const [name, value] of Object.entries(named ?? {}))
        put(args, name, fieldOf(value, `${origin}, '${name}'`), origin);
    }
  }
  return {
    queue: (single(contributions, 'Queue', handler) ?? {}) as QueueOptions,
    queueArguments: withSafeStrategy(args, handler),
    exchanges: all(contributions, 'Exchange').map((settings) => checkedExchange(settings, `@Exchange on ${handler}`)),
    bindings: all(contributions, 'Bind').map((settings) => readBinding(settings, `@Bind on ${handler}`)),
    consume: single(contributions, 'Consume', handler) as ConsumeOptions | undefined,
    prefetch: consumer.get('prefetch')?.value as number | undefined,
    priority: consumer.get('priority')?.value as number | undefined,
    idempotence: readIdempotence(single(contributions, 'Idempotent', handler), `@Idempotent on ${handler}`),
    retry: readRetry(single(contributions, 'Retry', handler)?.['policy'], `@Retry on ${handler}`),
  };
}

const read = (row: DecoratorRow, value: unknown, origin: string): Field =>
  row.accepts.read(value, row.setting === 'value' ? origin : `${row.setting} of ${origin}`);

function put(into: Map<string, Field>, name: string, field: Field, origin: string): void {
  const there = into.get(name);
  if (there !== undefined && !sameField(there, field)) {
    throw new DlxConfigurationError(
      `${origin}: ${name} is ${showField(field)} here and ${showField(there)} in another decorator of the same handler`,
    );
  }
  into.set(name, field);
}

function checkFree(decorator: string, setting: string, value: unknown, origin: string): void {
  const known =
    freeOptions[decorator] ?? decoratorTable.filter((row) => row.decorator === decorator).map((row) => row.setting);
  if (!known.includes(setting)) throw refused(setting, origin, `is no option; there are ${known.join(', ')}`);
  const expected = optionTypes[setting];
  if (expected !== undefined && typeof value !== expected && !(decorator === 'Consume' && setting === 'exchange')) {
    throw refused(value, `${setting} of ${origin}`, `is not a ${expected}`);
  }
}

const optionTypes: Readonly<Record<string, 'string' | 'boolean' | 'object'>> = {
  name: 'string',
  queue: 'string',
  exchange: 'string',
  broker: 'string',
  type: 'string',
  alternateExchange: 'string',
  durable: 'boolean',
  exclusive: 'boolean',
  autoDelete: 'boolean',
  internal: 'boolean',
  declare: 'boolean',
  arguments: 'object',
};

const all = (contributions: readonly Contribution[], decorator: string): readonly Contribution['settings'][] =>
  contributions.filter((contribution) => contribution.decorator === decorator).map(({ settings }) => settings);

function single(
  contributions: readonly Contribution[],
  decorator: string,
  handler: string,
): Contribution['settings'] | undefined {
  const found = all(contributions, decorator);
  if (found.length > 1)
    throw new DlxConfigurationError(`@${decorator} on ${handler}: it stands there ${found.length} times`);
  return found[0];
}

function readRetry(policy: unknown, origin: string): RetryPolicy | false | undefined {
  if (policy === undefined || policy === false) return policy;
  if (typeof policy === 'object' && policy !== null) return policy as RetryPolicy;
  throw refused(policy, origin, 'is no policy: write { attempts: 5 }, or false for none');
}

function readIdempotence(given: IdempotentOptions | undefined, origin: string): Idempotence | undefined {
  if (given === undefined) return undefined;
  const { key, ttl = '24h', lease = '5m', store } = given;
  if (key !== undefined && typeof key !== 'function') throw refused(key, `key of ${origin}`, 'is not a function');
  return {
    key: key ?? ((_, { properties }) => properties.messageId),
    ttl: someTime(ttl, `ttl of ${origin}`),
    lease: someTime(lease, `lease of ${origin}`),
    store,
  };
}

/** Milliseconds. @throws DlxConfigurationError */
function someTime(value: number | string, origin: string): number {
  const time = parseDuration(value, origin);
  if (time === 0) throw refused(value, origin, 'is no time at all; nothing would be remembered');
  return time;
}

function checkedExchange(settings: Contribution['settings'], origin: string): NamedExchange {
  const exchange = settings as unknown as NamedExchange;
  if (exchange.name === '')
    throw refused(exchange.name, origin, 'is the default exchange, to which nothing can be bound');
  return exchange;
}

function readBinding(settings: Contribution['settings'], origin: string): ExtraBinding {
  const exchange = settings['exchange'] as string;
  if (exchange === '') throw refused(exchange, origin, 'is the default exchange, to which nothing can be bound');
  const args = settings['arguments'] as Readonly<Record<string, unknown>>;
  return {
    exchange,
    routingKeys: routingKeysOf(settings['routingKey'], origin),
    arguments: fieldTableOf(args, origin),
  };
}

/** @throws DlxConfigurationError unless it is a text or several, none longer than AMQP allows */
export function routingKeysOf(value: unknown, origin: string): readonly string[] {
  const keys: readonly unknown[] = Array.isArray(value) ? value : [value];
  for (const key of keys) {
    if (typeof key !== 'string') throw refused(key, `routingKey of ${origin}`, 'is not a text');
    if (Buffer.byteLength(key) > 255) throw refused(key, `routingKey of ${origin}`, 'is longer than 255 bytes');
  }
  return keys as readonly string[];
}

/** Rule M1: at-least-once works on quorum queues that reject publishes, and silently falls back anywhere else. */
function withSafeStrategy(args: Map<string, Field>, handler: string): FieldTable {
  if (args.get('x-dead-letter-strategy')?.value !== 'at-least-once') return args;
  const origin = `strategy of @DeadLetter on ${handler}`;
  if (args.get('x-queue-type')?.value !== 'quorum') throw refused('at-least-once', origin, 'needs @Quorum() beside it');
  const overflow = args.get('x-overflow');
  if (overflow === undefined) return new Map(args).set('x-overflow', { type: 'S', value: 'reject-publish' });
  if (overflow.value === 'reject-publish') return args;
  throw refused('at-least-once', origin, `needs overflow 'reject-publish', and it is '${showField(overflow)}'`);
}
