import { BadRequestException } from '@nestjs/common';
import {
  type BindingDeclaration,
  clusterTopology,
  collectTopology,
  type Contributions,
  type ExchangeDeclaration,
  fieldTableOf,
  type MentionedExchange,
  type QueueDeclaration,
  refuseDroppingCycles,
  routingKeysOf,
  type Topology,
} from '../../backends/topology/index.js';
import { isPredeclared } from '../../engine/message/index.js';
import { DlxConfigurationError } from '../../platform/options/index.js';
import { queueOf, refuseDuplicateHandlers } from '../handlers/duplicate-handlers.js';
import type { ResolvedOptions } from '../module/options.js';
import {
  delaysAtStart,
  type ErrorTests,
  isNotRetryable,
  mostWaitQueues,
  planRetry,
  rejectArgumentNames,
  rejectArguments,
  type RetryPlan,
  type RetryStyle,
  styleOf,
  waitQueueTopology,
  type WaitQueueType,
} from '../retry/index.js';
import { retentions } from '../retry/lot-retention.js';
import { composed, composedGate, type Feature } from './feature.js';
import type { HandlerSettings, NamedExchange } from './handler-settings.js';
import { endsAlone, type Handler, lotOf, type OrderPlan, type PlannedHandler, type Reader } from './handler.js';

/** The consumer of a queue, and its handlers. */
export interface ConsumerPlan {
  readonly queue: string;
  readonly prefetch: number;
  readonly priority: number | undefined;
  readonly handlers: readonly PlannedHandler[];
  /** Undefined: content type and routing key say what a message is. */
  readonly reader: Reader | undefined;
  /** How failed messages get to their wait queues. */
  readonly style: RetryStyle;
  /** Undefined: the order of messages is not kept. */
  readonly ordering: OrderPlan | undefined;
  /** True if one consumer of the queue is active at a time (`@Ordered`, `@SingleActiveConsumer`). */
  readonly isSingle: boolean;
  /** See {@link Feature.rests}. */
  rests(isResting: boolean): void;
  /** Why it republishes although its policy could reject. */
  readonly styleReason?: string | undefined;
}

export interface Plan {
  readonly topology: Topology;
  /** What `clusterTopology` changed or could not change, for the log. */
  readonly notes: readonly string[];
  readonly consumers: readonly ConsumerPlan[];
  /** The delays of the wait queues in the topology. */
  readonly delays: readonly number[];
}

/**
 * Makes the topology and the consumers of all handlers. It calls no broker.
 * @param rejectsWithHeaders see {@link Backend.rejectsWithHeaders}
 * @param features of handlers, in the order of their steps
 * @throws DlxConfigurationError naming handlers, decorators and values
 */
export function planHandlers(
  handlers: readonly Handler[],
  options: ResolvedOptions,
  contributed: readonly Required<Contributions>[],
  rejectsWithHeaders: boolean,
  features: readonly Feature[],
): Plan {
  refuseDuplicateHandlers(handlers);
  const own = [options.topology, ...contributed];
  const parts: Partial<Topology>[] = [exchangesOfBroker(options), ...own.flatMap(({ parts }) => parts)];
  const mentioned: MentionedExchange[] = own.flatMap(({ mentioned }) => mentioned);
  const foreign = new Set<string>(own.flatMap(({ foreign }) => [...foreign]));
  const consumers = new Map<string, PlannedHandler[]>();
  for (const handler of handlers) {
    const queue = queueOf(handler);
    const retry = retryOf(handler, queue, options);
    parts.push(
      declarations(handler, queue, options, mentioned, foreign),
      retryTopology(
        retry,
        features.some((feature) => feature.keepsInHand?.(handler) === true),
      ),
    );
    const sharing = consumers.get(queue);
    const planned = { handler, queue, retry };
    if (sharing === undefined) consumers.set(queue, [planned]);
    else sharing.push(planned);
  }
  for (const [queue, planned] of consumers) {
    const sharing = planned.map(({ handler }) => handler);
    for (const feature of features) feature.check?.(queue, sharing);
  }
  const planned = [...consumers].map(([queue, handlers]) =>
    consumerOf(queue, withFeatures(queue, handlers, features), options, rejectsWithHeaders, features),
  );
  for (const consumer of planned) parts.push(retryArguments(consumer), ...waitsOf(consumer, features, options));
  retentions(planned.flatMap(({ handlers }) => handlers)); // called for its error, which names both handlers
  const collected = collectTopology({ parts, mentioned, foreign });
  refuseDroppingCycles(collected, new Set(consumers.keys()));
  const { clusterTopology: cluster } = options;
  const { topology, notes } =
    cluster === undefined ? { topology: collected, notes: [] } : clusterTopology(collected, cluster);
  return { topology, notes, consumers: planned, delays: delaysOf(planned, features, options) };
}

/** The retry policy of a handler: its own, that of its queue in the module's options, or that of the module. */
function retryOf(handler: Handler, queue: string, options: ResolvedOptions): RetryPlan | undefined {
  const { settings, origin } = handler;
  const { retry, queueRetry, waitQueueType: lotType, random } = options;
  const given = [
    [settings.retry, `@Retry on ${origin}`],
    [queueRetry[queue], `option 'queueRetry' of DlxBrokerModule for '${queue}'`],
    [retry, `option 'retry' of DlxBrokerModule (${origin})`],
  ] as const;
  const [policy, by] = given.find(([policy]) => policy !== undefined) ?? [];
  if (policy === undefined || policy === false) return undefined;
  const target = { queue, lot: lotOf(handler, queue), lotType, waitQueueType: waitTypeOf(handler, options) };
  return planRetry(policy, { ...target, origin: by as string, random, neverRetry: notRetryable });
}

/** The type of the wait queues from which messages return to the queue of a handler. */
const waitTypeOf = (handler: Handler, { waitQueueType }: ResolvedOptions): WaitQueueType =>
  endsAlone(handler) ? 'classic' : waitQueueType;

/** True if the wait queues are {@link WaitQueues.leased} ones, beside those of other handlers. */
const hasLease = ([first]: readonly PlannedHandler[], options: ResolvedOptions): boolean =>
  waitTypeOf(first!.handler, options) !== options.waitQueueType;

/** What a retry policy declares. A handler whose messages wait in hand needs no wait queues. */
function retryTopology(retry: RetryPlan | undefined, isInHand: boolean): Partial<Topology> {
  if (retry === undefined) return {};
  if (!isInHand) return retry.topology;
  return {
    queues: retry.topology.queues.filter(({ name }) => name === retry.parkingLot || name === retry.retention?.archive),
  };
}

/** The handlers of a queue, with their steps and their gate. */
function withFeatures(
  queue: string,
  handlers: readonly PlannedHandler[],
  features: readonly Feature[],
): readonly PlannedHandler[] {
  const [first] = handlers as readonly [PlannedHandler];
  const gate = composedGate(features.flatMap((feature) => feature.gate?.(queue, first) ?? []));
  return handlers.map((planned) => {
    const steps = features.flatMap((feature) => feature.step?.(planned, handlers) ?? []);
    const { handler } = planned;
    const invoke = features.reduce((inner, feature) => feature.call?.(handler, inner) ?? inner, handler.invoke);
    return { ...planned, gate, invoke, step: composed(steps) };
  });
}

/**
 * The arguments by which a work queue dead-letters rejected messages to its wait queue. An existing queue may have others, because
 * the arguments of a queue cannot change with its policy.
 */
function retryArguments({ queue, handlers, style }: ConsumerPlan): Partial<Topology> {
  const [{ handler, retry }] = handlers as readonly [PlannedHandler];
  const { settings } = handler;
  if (retry === undefined || settings.queue.declare === false || deadLetters(settings)) return {};
  const declared = queueDeclaration(handler, queue);
  const args = style === 'reject' ? rejectArguments(retry, declared.arguments) : declared.arguments;
  return { queues: [{ ...declared, arguments: args, mayDiffer: rejectArgumentNames }] };
}

/** The wait queues for the waits of features. */
function waitsOf(
  { handlers: [first], style }: ConsumerPlan,
  features: readonly Feature[],
  options: ResolvedOptions,
): readonly Partial<Topology>[] {
  if (style === 'in-hand') return [];
  const type = waitTypeOf(first!.handler, options);
  const waits = features.flatMap((feature) => feature.waits?.(first as PlannedHandler) ?? []);
  return waits.map(({ delays, by }) => waitQueueTopology(delaysAtStart(delays, type), by, type));
}

const deadLetters = ({ queueArguments }: Handler['settings']): boolean => queueArguments.has('x-dead-letter-exchange');

/** @throws DlxConfigurationError when all policies together need too many queues */
function delaysOf(
  consumers: readonly ConsumerPlan[],
  features: readonly Feature[],
  options: ResolvedOptions,
): readonly number[] {
  const waiting = consumers.filter(({ style, handlers }) => style !== 'in-hand' && !hasLease(handlers, options));
  const delays = new Set(
    waiting.flatMap(({ handlers }) =>
      handlers.flatMap((planned) => [
        ...(planned.retry?.delays ?? []),
        ...features.flatMap((feature) => feature.waits?.(planned)?.delays ?? []),
      ]),
    ),
  );
  if (delays.size <= mostWaitQueues) return [...delays];
  throw new DlxConfigurationError(
    `the retry policies and features of this application need ${delays.size} different delays, each a queue of its own, and ` +
      `${mostWaitQueues} is the most in one broker; use the same delays, or jitter: 'equal', whose waits are rounded to few`,
  );
}

function exchangesOfBroker({ events, requests, notices }: ResolvedOptions): Partial<Topology> {
  const own = notices === undefined ? [events, requests] : [events, requests, { name: notices, type: 'topic' }];
  const declared = own.filter(({ name, declare }: NamedExchange) => declare !== false && !isPredeclared(name));
  return { exchanges: declared.map((exchange) => exchangeOf(exchange, 'DlxBrokerModule')) };
}

function exchangeOf(exchange: NamedExchange, origin: string): ExchangeDeclaration {
  const { name, type = 'topic', durable = true, autoDelete = false, internal = false, alternateExchange } = exchange;
  const args = { ...exchange.arguments, ...(alternateExchange && { 'alternate-exchange': alternateExchange }) };
  return { name, type, durable, autoDelete, internal, arguments: fieldTableOf(args, origin), origin };
}

function declarations(
  handler: Handler,
  queue: string,
  options: ResolvedOptions,
  mentioned: MentionedExchange[],
  foreign: Set<string>,
): Partial<Topology> {
  const { settings, origin } = handler;
  const exchanges: ExchangeDeclaration[] = [];
  const bindings: BindingDeclaration[] = [];
  const bind = (source: string, keys: readonly string[], args: BindingDeclaration['arguments'] = new Map()): void => {
    mentioned.push({ name: source, origin });
    for (const routingKey of keys) {
      bindings.push({ source, destination: queue, destinationType: 'queue', routingKey, arguments: args, origin });
    }
  };
  const declare = (exchange: NamedExchange, by: string): void => {
    if (exchange.declare === false || isPredeclared(exchange.name)) foreign.add(exchange.name);
    else exchanges.push(exchangeOf(exchange, by));
  };

  for (const exchange of settings.exchanges) declare(exchange, `@Exchange on ${origin}`);
  const consumed = settings.consume?.exchange;
  if (typeof consumed === 'object') declare(consumed, `@Consume on ${origin}`);
  for (const source of sourcesOf(handler, options)) bind(source, handler.patterns.length > 0 ? handler.patterns : ['']);
  for (const { exchange, routingKeys, arguments: args } of settings.bindings) bind(exchange, routingKeys, args);
  const deadLetter = settings.queueArguments.get('x-dead-letter-exchange');
  if (deadLetter?.type === 'S') mentioned.push({ name: deadLetter.value, origin: `@DeadLetter on ${origin}` });
  const alternates = settings.exchanges.map(({ alternateExchange }) => alternateExchange);
  for (const name of alternates) if (name !== undefined) mentioned.push({ name, origin: `@Exchange on ${origin}` });
  return { exchanges, bindings, queues: settings.queue.declare === false ? [] : [queueDeclaration(handler, queue)] };
}

/** The exchanges to which the handler's patterns bind its queue. */
function sourcesOf({ kind, settings, patterns }: Handler, { events, requests }: ResolvedOptions): readonly string[] {
  const sources = settings.exchanges.map(({ name }) => name);
  const consumed = settings.consume?.exchange;
  if (consumed !== undefined) sources.push(typeof consumed === 'string' ? consumed : consumed.name);
  if (sources.length > 0 || patterns.length === 0) return sources;
  return [kind === 'request' ? requests.name : events.name];
}

function queueDeclaration({ settings, origin }: Handler, name: string): QueueDeclaration {
  const { durable = true, exclusive = false, autoDelete = false } = settings.queue;
  return { name, durable, exclusive, autoDelete, arguments: settings.queueArguments, origin };
}

function consumerOf(
  queue: string,
  handlers: readonly PlannedHandler[],
  options: ResolvedOptions,
  rejectsWithHeaders: boolean,
  features: readonly Feature[],
): ConsumerPlan {
  const prefetch = features.reduce(
    (asked, feature) => feature.prefetch?.(handlers, asked) ?? asked,
    agreed(queue, 'prefetch', handlers) ?? options.prefetch,
  );
  const [{ handler, retry }] = handlers as readonly [PlannedHandler];
  const { queue: asked, queueArguments } = handler.settings;
  const mayReject = retry !== undefined && asked.declare !== false && !hasLease(handlers, options);
  const possible = mayReject ? styleOf(retry, queueArguments, handlers.length === 1) : 'republish';
  const isBare = possible === 'reject' && !rejectsWithHeaders;
  const styleReason = isBare ? features.find((feature) => feature.needsHeaders)?.needsHeaders : undefined;
  const style = styleReason === undefined ? possible : 'republish';
  const [reader] = features.flatMap((feature) => feature.reader?.(queue, handlers) ?? []);
  const rests = (isResting: boolean): void => features.forEach((feature) => feature.rests?.(queue, isResting));
  const plan = { queue, priority: agreed(queue, 'priority', handlers), handlers, reader, rests };
  const [ordering] = features.flatMap((feature) => feature.ordering?.(queue, handlers, prefetch) ?? []);
  const isSingle = handlers.some(
    ({ handler: { settings } }) => settings.queueArguments.get('x-single-active-consumer')?.value === true,
  );
  if (ordering === undefined) return { ...plan, prefetch, style, ordering, isSingle, styleReason };
  return { ...plan, prefetch: ordering.window, style: 'in-hand', ordering, isSingle: true };
}

/** The setting that handlers of a queue share. @throws DlxConfigurationError when they differ */
export function agreed<Setting extends 'prefetch' | 'priority' | 'envelope'>(
  queue: string,
  setting: Setting,
  handlers: readonly PlannedHandler[],
): HandlerSettings[Setting] | undefined {
  const given = handlers.filter(({ handler }) => handler.settings[setting] !== undefined);
  const [first] = given;
  const other = given.find(({ handler }) => handler.settings[setting] !== first?.handler.settings[setting]);
  if (first !== undefined && other !== undefined) {
    const claims = [first, other].map(({ handler }) => `${handler.origin} says ${handler.settings[setting]}`);
    throw new DlxConfigurationError(`queue '${queue}': its handlers differ in ${setting}: ${claims.join(', ')}`);
  }
  return first?.handler.settings[setting];
}

/** The routing keys of a `@Consume`. */
export const consumedPatterns = (settings: Handler['settings'], origin: string): readonly string[] =>
  settings.consume?.routingKey === undefined ? [] : routingKeysOf(settings.consume.routingKey, `@Consume on ${origin}`);

/** Errors that another attempt cannot cure. A policy without `neverRetry` parks them at once. */
export const notRetryable: ErrorTests = [BadRequestException, isNotRetryable];
