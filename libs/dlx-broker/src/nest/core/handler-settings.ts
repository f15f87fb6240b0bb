import { bool, type Field, type FieldTable } from '../../engine/message/index.js';
import type { RetryPolicy } from '../retry/index.js';
import {
  DlxConfigurationError,
  checkMethods,
  optionsOf,
  parseDuration,
  refused,
  refuseUnknown,
} from '../../platform/options/index.js';
import { fieldTableOf, putArgument, routingKeysOf, withSafeStrategy } from '../../backends/topology/index.js';
import type { Contract } from '../features/contract/contract.js';
import { type CircuitOptions, type ResolvedCircuit, resolveCircuit } from '../features/circuit/options.js';
import type { ConsumeOptions } from '../decorators/consume.js';
import type { Contribution } from '../decorators/contribution.js';
import type { ExchangeOptions } from '../decorators/exchange.js';
import { examples, exchangeOptions, freeOptions, parameters, remedies } from '../decorators/free-options.js';
import type { IdempotentOptions } from '../decorators/idempotent.js';
import type { QueueOptions } from '../decorators/queue.js';
import { decoratorTable, type DecoratorRow } from '../decorators/table.js';
import type { Envelope } from '../features/envelope/envelope.js';
import { type OutboxLimits, readOutbox } from '../features/outbox/limits.js';
import type { Idempotence } from '../features/idempotent/idempotence.js';
import { type Ordering, readOrdering, refuseUnordered } from '../features/ordered/ordering.js';

export interface NamedExchange extends ExchangeOptions {
  readonly name: string;
}

export interface ExtraBinding {
  readonly exchange: string;
  readonly routingKeys: readonly string[];
  readonly arguments: FieldTable;
}

/** The checked settings of all decorators of one handler. */
export interface HandlerSettings {
  readonly queue: QueueOptions;
  readonly queueArguments: FieldTable;
  readonly exchanges: readonly NamedExchange[];
  readonly bindings: readonly ExtraBinding[];
  readonly consume: ConsumeOptions | undefined;
  /** Of `@On` or `@Answer`. */
  readonly contract: Contract | undefined;
  /** `@DeadLetter(false)`: messages on which the handler fails may be lost. */
  readonly losesFailures: boolean;
  readonly prefetch: number | undefined;
  readonly priority: number | undefined;
  /** What the bodies of the queue are. Undefined: nothing is said about it. */
  readonly envelope: Envelope | undefined;
  /** False: no retries, also if the module has a policy. */
  readonly retry: RetryPolicy | false | undefined;
  readonly idempotence: Idempotence | undefined;
  /** Undefined: the order of messages is not kept. */
  readonly ordering: Ordering | undefined;
  /** The name of a circuit of the module, or a circuit for this handler alone. */
  readonly circuit: string | ResolvedCircuit | undefined;
  /** False: no outbox, also if the module has one. */
  readonly outbox: OutboxLimits | false | undefined;
}

/**
 * @param handler class and method, for errors
 * @throws DlxConfigurationError naming the decorator, the handler and the value
 */
export function readSettings(contributions: readonly Contribution[], handler: string): HandlerSettings {
  const args = new Map<string, Field>();
  const consumer = new Map<string, Field>();
  for (const { decorator, settings, misplaced } of contributions) {
    const origin = `@${decorator} on ${handler}`;
    if (misplaced !== undefined) {
      throw refused(misplaced.value, origin, `is not an object of options; ${remedies[decorator] ?? 'leave it out'}`);
    }
    for (const [setting, value] of Object.entries(settings)) {
      const row = decoratorTable.find((row) => row.decorator === decorator && row.setting === setting);
      checkKnown(decorator, settings, origin);
      if (value === undefined && setting !== 'contract')
        throw refused(
          value,
          nameOf(setting, origin),
          `where a value is expected; write ${examples[`${decorator}.${setting}`] ?? 'one, or leave it out'}`,
        );
      if (row === undefined) freeOptions[decorator]?.[setting]?.(value, nameOf(setting, origin));
      else put(row.of === 'queue' ? args : consumer, row.becomes, read(row, value, origin), origin);
    }
    if (decorator === 'Queue' || decorator === 'QueueArguments') {
      const named = (settings['arguments'] ?? {}) as Readonly<Record<string, unknown>>;
      for (const [name, field] of fieldTableOf(named, `arguments of ${origin}`)) put(args, name, field, origin);
    }
  }
  const queue = (single(contributions, 'Queue', handler) ?? {}) as QueueOptions;
  const prefetch = consumer.get('prefetch')?.value as number | undefined;
  const ordering = readOrdering(single(contributions, 'Ordered', handler), `@Ordered on ${handler}`);
  if (ordering !== undefined) {
    put(args, 'x-single-active-consumer', bool(true), `@Ordered on ${handler}`);
    refuseUnordered(ordering, { queue, args, prefetch }, `@Ordered on ${handler}`);
  }
  const consume = readConsume(single(contributions, 'Consume', handler), `@Consume on ${handler}`);
  return {
    queue,
    queueArguments: withSafeStrategy(args, `strategy of @DeadLetter on ${handler}`, '@Quorum() beside it'),
    exchanges: all(contributions, 'Exchange') as unknown as readonly NamedExchange[],
    bindings: all(contributions, 'Bind').map((settings) => readBinding(settings, `@Bind on ${handler}`)),
    consume,
    contract: readContract(contributions, handler),
    losesFailures: mayLose(contributions, handler),
    prefetch,
    priority: consumer.get('priority')?.value as number | undefined,
    envelope: envelopeOf(queue, consume, handler),
    ordering,
    idempotence: readIdempotence(single(contributions, 'Idempotent', handler), `@Idempotent on ${handler}`),
    circuit: readCircuit(single(contributions, 'Circuit', handler), `@Circuit on ${handler}`),
    outbox: readOutbox(single(contributions, 'Outbox', handler)?.['value'], `@Outbox on ${handler}`),
    retry: readRetry(single(contributions, 'Retry', handler)?.['policy'], `@Retry on ${handler}`),
  };
}

const nameOf = (setting: string, origin: string): string => (setting === 'value' ? origin : `${setting} of ${origin}`);

const read = (row: DecoratorRow, value: unknown, origin: string): Field =>
  row.accepts.read(value, nameOf(row.setting, origin));

const put = (into: Map<string, Field>, name: string, field: Field, origin: string): void =>
  putArgument(into, name, field, origin, 'another decorator of the same handler');

function checkKnown(decorator: string, settings: Contribution['settings'], origin: string): void {
  const rows = decoratorTable.filter((row) => row.decorator === decorator).map(({ setting }) => setting);
  const known = [...rows, ...Object.keys(freeOptions[decorator] ?? {})];
  const hidden = parameters[decorator] ?? [];
  refuseUnknown(
    Object.fromEntries(Object.entries(settings).filter(([name]) => !hidden.includes(name))),
    known.filter((name) => !hidden.includes(name)),
    origin,
  );
}

const all = (contributions: readonly Contribution[], decorator: string): readonly Contribution['settings'][] =>
  contributions.filter((contribution) => contribution.decorator === decorator).map(({ settings }) => settings);

function envelopeOf(queue: QueueOptions, consume: ConsumeOptions | undefined, handler: string): Envelope | undefined {
  const [ofQueue, ofConsume] = [queue.envelope, consume?.envelope];
  if (ofQueue === undefined || ofConsume === undefined || ofQueue === ofConsume) return ofQueue ?? ofConsume;
  throw new DlxConfigurationError(`${handler}: @Queue says envelope '${ofQueue}' and @Consume '${ofConsume}'`);
}

function mayLose(contributions: readonly Contribution[], handler: string): boolean {
  if (all(contributions, 'DeadLetter(false)').length === 0) return false;
  if (all(contributions, 'DeadLetter').length === 0) return true;
  throw new DlxConfigurationError(
    `@DeadLetter on ${handler}: it is there twice, with an exchange and with false; keep one of them`,
  );
}

function single(
  contributions: readonly Contribution[],
  decorator: string,
  handler: string,
): Contribution['settings'] | undefined {
  const found = all(contributions, decorator);
  if (found.length > 1)
    throw new DlxConfigurationError(`@${decorator} on ${handler}: it is there ${found.length} times; write it once`);
  return found[0];
}

function readCircuit(
  given: Contribution['settings'] | undefined,
  origin: string,
): string | ResolvedCircuit | undefined {
  if (given === undefined) return undefined;
  const name = given['circuit'];
  return typeof name === 'string' ? name : resolveCircuit(given as CircuitOptions, origin);
}

function readRetry(policy: unknown, origin: string): RetryPolicy | false | undefined {
  if (policy === undefined || policy === false) return policy;
  if (typeof policy === 'object' && policy !== null) return policy as RetryPolicy;
  throw refused(policy, origin, 'is no policy: write { attempts: 5 }, or false for none');
}

function readIdempotence(given: IdempotentOptions | undefined, origin: string): Idempotence | undefined {
  if (given === undefined) return undefined;
  const { key, ttl = '24h', lease = '5m', store } = given;
  if (store !== undefined) checkStore(store, `store of ${origin}`);
  return {
    key: key ?? ((_, { properties }) => properties.messageId || null),
    ttl: someTime(ttl, `ttl of ${origin}`),
    lease: someTime(lease, `lease of ${origin}`),
    store,
  };
}

/** @throws DlxConfigurationError for a value that is no idempotency store */
export const checkStore = (store: unknown, origin: string): void =>
  checkMethods(store, origin, 'IdempotencyStore', ['claim', 'done', 'release']);

/** A duration above 0, in milliseconds. @throws DlxConfigurationError */
function someTime(value: number | string, origin: string): number {
  const time = parseDuration(value, origin);
  if (time === 0) throw refused(value, origin, 'is no time at all; nothing would be remembered');
  return time;
}

function readContract(contributions: readonly Contribution[], handler: string): Contract | undefined {
  const [on, answer] = ['On', 'Answer'].map((decorator) => single(contributions, decorator, handler)?.['contract']);
  if (on === undefined || answer === undefined) return (on ?? answer) as Contract | undefined;
  throw new DlxConfigurationError(
    `${handler}: @On and @Answer exclude each other; a method handles either events or requests`,
  );
}

function readConsume(settings: Contribution['settings'] | undefined, origin: string): ConsumeOptions | undefined {
  const exchange = settings?.['exchange'];
  if (exchange === undefined) return settings;
  if (typeof exchange === 'string') exchangeOptions['name']?.(exchange, `exchange of ${origin}`);
  else checkExchange(exchange, `exchange of ${origin}`);
  return settings;
}

/** @throws DlxConfigurationError for a value that is no exchange with a name */
export function checkExchange(given: unknown, origin: string): void {
  const exchange = optionsOf(given, origin, "write its name, or { name: 'shop', type: 'direct' }");
  refuseUnknown(exchange, Object.keys(exchangeOptions), origin);
  for (const [option, check] of Object.entries(exchangeOptions)) {
    if (option === 'name' || exchange[option] !== undefined) check(exchange[option], `${option} of ${origin}`);
  }
}

function readBinding(settings: Contribution['settings'], origin: string): ExtraBinding {
  const exchange = settings['exchange'] as string;
  const args = settings['arguments'] as Readonly<Record<string, unknown>>;
  return {
    exchange,
    routingKeys: routingKeysOf(settings['routingKey'], origin),
    arguments: fieldTableOf(args, origin),
  };
}
