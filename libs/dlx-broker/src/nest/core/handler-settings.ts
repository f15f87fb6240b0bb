import type { Field, FieldTable } from '../../engine/message/index.js';
import type { RetryPolicy } from '../retry/index.js';
import { DlxConfigurationError, optionsOf, refused, refuseUnknown } from '../../platform/options/index.js';
import { fieldTableOf, putArgument, routingKeysOf, withSafeStrategy } from '../../backends/topology/index.js';
import type { Contribution } from '../decorators/contribution.js';
import type { ConsumeOptions, ExchangeOptions, QueueOptions } from '../decorators/handler.js';
import { examples, exchangeOptions, freeOptions, parameters, remedies } from '../decorators/free-options.js';
import type { Check } from '../module/check-options.js';
import { type DecoratorRow, decoratorTable } from '../decorators/table.js';
import type { Envelope } from '../decorators/envelope.js';

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
  /** By the decorator of a feature that makes the method a handler. */
  readonly bound: Bound | undefined;
  /** `@DeadLetter(false)`: messages on which the handler fails may be lost. */
  readonly losesFailures: boolean;
  readonly prefetch: number | undefined;
  readonly priority: number | undefined;
  /** What the bodies of the queue are. Undefined: nothing is said about it. */
  readonly envelope: Envelope | undefined;
  /** False: no retries, also if the module has a policy. */
  readonly retry: RetryPolicy | false | undefined;
  /** What the decorators of features say. */
  readonly features: ReadonlyMap<FeatureDecorator<unknown>, unknown>;
}

/** What a method handles, by a decorator that makes it a handler as `@Consume` does. */
export interface Bound {
  readonly kind: 'consume' | 'request';
  /** The routing key. */
  readonly pattern: string;
}

/** The decorator of a feature, and how its options are read. */
export interface FeatureDecorator<Setting> {
  /** Without the `@`. Several decorators of one feature exclude each other. */
  readonly names: readonly string[];
  /** Checks its options, each by itself. */
  readonly options: Readonly<Record<string, Check>>;
  /** The options that are a parameter of the decorator. Errors do not list them, and `read` checks them if they are undefined. */
  readonly parameters?: readonly string[];
  /** What to write where an object of options was expected. */
  readonly remedy?: string;
  /** @param name which one of its names @throws DlxConfigurationError naming the option and the value */
  read(given: Contribution['settings'], origin: string, name: string): Setting;
  /** For a decorator that makes a method a handler. */
  binds?(setting: Setting): Bound;
  /** The arguments that it gives the queue. @throws DlxConfigurationError for settings beside it under which it does nothing */
  argumentsFor?(setting: Setting, beside: BesideFeature, origin: string): FieldTable;
}

/** Settings of the same handler. */
export interface BesideFeature {
  readonly queue: QueueOptions;
  readonly args: FieldTable;
  readonly prefetch: number | undefined;
}

/** What the decorator of a feature says above a handler; undefined without it. */
export const settingOf = <Setting>(
  { settings }: { readonly settings: Pick<HandlerSettings, 'features'> },
  decorator: FeatureDecorator<Setting>,
): Setting | undefined => settings.features.get(decorator) as Setting | undefined;

/**
 * @param handler class and method, for errors
 * @param features the decorators of features
 * @throws DlxConfigurationError naming the decorator, the handler and the value
 */
export function readSettings(
  contributions: readonly Contribution[],
  handler: string,
  features: readonly FeatureDecorator<unknown>[] = [],
): HandlerSettings {
  const args = new Map<string, Field>();
  const consumer = new Map<string, Field>();
  for (const { decorator, settings, misplaced } of contributions) {
    const origin = `@${decorator} on ${handler}`;
    const feature = features.find(({ names }) => names.includes(decorator));
    if (misplaced !== undefined) {
      const remedy = feature?.remedy ?? remedies[decorator] ?? 'leave it out';
      throw refused(misplaced.value, origin, `is not an object of options; ${remedy}`);
    }
    const free = feature?.options ?? freeOptions[decorator] ?? {};
    for (const [setting, value] of Object.entries(settings)) {
      const row = decoratorTable.find((row) => row.decorator === decorator && row.setting === setting);
      checkKnown(decorator, settings, free, feature?.parameters ?? parameters[decorator] ?? [], origin);
      if (value === undefined && feature?.parameters?.includes(setting) !== true)
        throw refused(
          value,
          nameOf(setting, origin),
          `where a value is expected; write ${examples[`${decorator}.${setting}`] ?? 'one, or leave it out'}`,
        );
      if (row === undefined) free[setting]?.(value, nameOf(setting, origin));
      else put(row.of === 'queue' ? args : consumer, row.becomes, read(row, value, origin), origin);
    }
    if (decorator === 'Queue' || decorator === 'QueueArguments') {
      const named = (settings['arguments'] ?? {}) as Readonly<Record<string, unknown>>;
      for (const [name, field] of fieldTableOf(named, `arguments of ${origin}`)) put(args, name, field, origin);
    }
  }
  const queue = (single(contributions, ['Queue'], handler)?.settings ?? {}) as QueueOptions;
  const prefetch = consumer.get('prefetch')?.value as number | undefined;
  const ofFeatures = new Map<FeatureDecorator<unknown>, unknown>();
  let bound: Bound | undefined;
  for (const feature of features) {
    const given = single(contributions, feature.names, handler);
    if (given === undefined) continue;
    const origin = `@${given.decorator} on ${handler}`;
    const setting = feature.read(given.settings, origin, given.decorator);
    ofFeatures.set(feature, setting);
    bound ??= feature.binds?.(setting);
    const own = feature.argumentsFor?.(setting, { queue, args, prefetch }, origin) ?? [];
    for (const [name, field] of own) put(args, name, field, origin);
  }
  const consume = readConsume(single(contributions, ['Consume'], handler)?.settings, `@Consume on ${handler}`);
  return {
    queue,
    queueArguments: withSafeStrategy(args, `strategy of @DeadLetter on ${handler}`, '@Quorum() beside it'),
    exchanges: all(contributions, 'Exchange') as unknown as readonly NamedExchange[],
    bindings: all(contributions, 'Bind').map((settings) => readBinding(settings, `@Bind on ${handler}`)),
    consume,
    bound,
    losesFailures: mayLose(contributions, handler),
    prefetch,
    priority: consumer.get('priority')?.value as number | undefined,
    envelope: envelopeOf(queue, consume, handler),
    features: ofFeatures,
    retry: readRetry(single(contributions, ['Retry'], handler)?.settings['policy'], `@Retry on ${handler}`),
  };
}

const nameOf = (setting: string, origin: string): string => (setting === 'value' ? origin : `${setting} of ${origin}`);

const read = (row: DecoratorRow, value: unknown, origin: string): Field =>
  row.accepts.read(value, nameOf(row.setting, origin));

const put = (into: Map<string, Field>, name: string, field: Field, origin: string): void =>
  putArgument(into, name, field, origin, 'another decorator of the same handler');

function checkKnown(
  decorator: string,
  settings: Contribution['settings'],
  free: FeatureDecorator<unknown>['options'],
  hidden: readonly string[],
  origin: string,
): void {
  const rows = decoratorTable.filter((row) => row.decorator === decorator).map(({ setting }) => setting);
  const known = [...rows, ...Object.keys(free)];
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
  names: readonly string[],
  handler: string,
): Contribution | undefined {
  const found = contributions.filter(({ decorator }) => names.includes(decorator));
  const [first] = found;
  if (first === undefined || found.length === 1) return first;
  if (found.some(({ decorator }) => decorator !== first.decorator)) {
    const both = names.map((name) => `@${name}`).join(' and ');
    throw new DlxConfigurationError(`${handler}: ${both} exclude each other; keep one of them`);
  }
  throw new DlxConfigurationError(
    `@${first.decorator} on ${handler}: it is there ${found.length} times; write it once`,
  );
}

function readRetry(policy: unknown, origin: string): RetryPolicy | false | undefined {
  if (policy === undefined || policy === false) return policy;
  if (typeof policy === 'object' && policy !== null) return policy as RetryPolicy;
  throw refused(policy, origin, 'is no policy: write { attempts: 5 }, or false for none');
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
