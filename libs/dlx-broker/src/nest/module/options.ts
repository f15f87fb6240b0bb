import type { Backend } from '../../backends/index.js';
import { type ClusterOptions, type Contributions, readTopology } from '../../backends/topology/index.js';
import type { Broker } from '../../engine/broker/index.js';
import {
  DlxConfigurationError,
  optionsOf,
  parseDuration,
  parseTimeLimit,
  whole,
} from '../../platform/options/index.js';
import type { Meter, MeteredHandlers } from '../../server/metrics/index.js';
import { embeddedChecks } from '../brokers/embedded.js';
import { type BrokerChoice, isChoice } from '../brokers/made.js';
import { rabbitmqChecks } from '../brokers/rabbitmq.js';
import type { LogFailures } from '../core/failure-log.js';
import type { NamedExchange } from '../core/handler-settings.js';
import type { Envelope } from '../decorators/envelope.js';
import type { OperatedHandlers } from '../features/circuit/dlx-handler.js';
import { resolveCircuit, type ResolvedCircuit } from '../features/circuit/options.js';
import { errorsKept, type FingerprintFunction } from '../features/error-history/options.js';
import type { IdempotencyStore } from '../features/idempotent/store.js';
import { type OutboxLimits, readOutbox } from '../features/outbox/decorator.js';
import { type ResolvedHealth, resolveHealth } from '../health/options.js';
import type { LoggingOptions } from '../log/logging.js';
import type { RetryPolicy, WaitQueueType } from '../retry/index.js';
import { checkAll, type Checks, isFlag, isText, optionIn } from './check-options.js';
import { leastStuckAfter, transportChecks } from './transport-checks.js';
import type { ErrorHeaderOptions, TransportOptions } from './transport-options.js';

export type { ErrorHeaderOptions, TransportOptions };

export const defaultBrokerName = 'default';

/** The options of `forRoot`, and of the factory of `forRootAsync`. */
export interface DlxBrokerOptions extends TransportOptions {
  /** Where the broker is. Default `embedded()`: a broker in the process of the application, in memory. */
  readonly broker?: BrokerChoice;
}

/** Options that have to be known before a factory runs. */
export interface DlxBrokerModuleExtras {
  /** The name of the broker, in an application with several. */
  readonly name?: string;
  /** True: other modules may inject client, broker and dead letters without importing this module. Default true. */
  readonly isGlobal?: boolean;
}

/** The options of the transport, checked and complete. */
export interface ResolvedOptions {
  readonly name: string;
  readonly events: NamedExchange;
  readonly requests: NamedExchange;
  readonly envelope: Envelope | undefined;
  readonly prefetch: number;
  readonly drainTimeout: number;
  readonly stuckAfter: number;
  readonly errorHeaders: Required<ErrorHeaderOptions> | undefined;
  readonly errorHistory: number;
  readonly fingerprint: FingerprintFunction | undefined;
  readonly notices: string | undefined;
  readonly retry: RetryPolicy | undefined;
  readonly queueRetry: Readonly<Record<string, RetryPolicy | false | undefined>>;
  readonly circuits: ReadonlyMap<string, ResolvedCircuit>;
  readonly random: () => number;
  readonly idempotencyStore: IdempotencyStore | undefined;
  readonly outbox: OutboxLimits | undefined;
  readonly waitQueueType: WaitQueueType;
  readonly clusterTopology: ClusterOptions | undefined;
  readonly topology: Required<Contributions>;
  readonly declare: boolean;
  readonly metrics: boolean;
  readonly logHandlers: boolean;
  readonly logFailures: LogFailures;
  readonly logging: LoggingOptions;
  readonly health: ResolvedHealth;
}

/** The address of a port. */
export interface SocketAddress {
  readonly host: string;
  readonly port: number;
}

/** The faults and the alarms of a broker in this process. */
export interface BrokerCondition {
  readonly faults: readonly { readonly name: 'storage_failed' | 'storage_unreadable'; readonly reason: string }[];
  /** Resources that are short, so that publishes are refused or wait. */
  readonly alarms: readonly string[];
}

/** The address of a port for metrics. */
export interface MetricsAddress extends SocketAddress {
  /** `http://127.0.0.1:15692/metrics` */
  readonly url: string;
}

/** The metrics of a broker in this process. */
export interface ConnectedMetrics {
  readonly engine: Broker;
  /** True if a port for metrics is opened. */
  readonly isWanted: boolean;
  /** The handlers that the pages of metrics show. */
  readonly handlers: Set<MeteredHandlers>;
  /** The address of the port for metrics, once it is open. */
  address(): MetricsAddress | undefined;
  /** Measures the broker from now on. Idempotent. */
  measure(): Promise<Meter>;
}

/** The connection of the module to a broker: its backend, and the functions for start and shutdown. */
export interface Connected {
  readonly backend: Backend;
  /** @throws DlxConfigurationError when another application took the data directory before the start. Absent without one */
  check?(): void;
  /** The application shuts down. @param end resolves when no handler runs any more */
  draining?(end: Promise<void>): void;
  /**
   * Opens the ports of the options. Idempotent.
   * @throws DlxConfigurationError when a port cannot be opened
   */
  open(): Promise<void>;
  /** Where the broker is, for the log of the start. Absent where the log has it, and for a broker of the caller. */
  where?(): string;
  /** The address of the AMQP port, once it is open. */
  amqp(): SocketAddress | undefined;
  /** The address of the management API, once it is open. */
  http(): SocketAddress | undefined;
  /** The URLs of the management API and of its console, once the port is open. */
  urls(): { readonly api: string; readonly console: string | undefined } | undefined;
  /** The faults and the alarms of a broker in this process. Absent for a server. */
  condition?(): BrokerCondition;
  /** Shows the handlers to operators, who may pause them. Absent on a server. */
  manage?(handlers: OperatedHandlers): void;
  /** The parts for metrics of a broker in this process; absent on a server. */
  readonly metrics?: ConnectedMetrics;
  /** Closes what the module opened. A given broker or backend stays open. */
  close(): Promise<void>;
}

/** Every option of `forRoot`, and what it accepts. */
export const forRootChecks = {
  name: isText,
  isGlobal: isFlag,
  broker: isChoice,
  ...transportChecks,
} satisfies Checks<DlxBrokerOptions & DlxBrokerModuleExtras>;

const nameOf = (name: string): string => `DlxBrokerModule (broker '${name}')`;

/** @returns the remedy for an option that moved from forRoot to a function for the option `broker` */
function movedTo(option: string): string | undefined {
  if (option === 'backend')
    return "'backend' is an option of customBackend(): forRoot({ broker: customBackend(backend) })";
  const place = Object.hasOwn(embeddedChecks, option) ? 'embedded' : 'rabbitmq';
  if (!Object.hasOwn(embeddedChecks, option) && !Object.hasOwn(rabbitmqChecks, option)) return undefined;
  return `'${option}' is an option of ${place}(): forRoot({ broker: ${place}({ ${option} }) })`;
}

/**
 * Checks the options of the user, by name and by type, before any is used. An option that is undefined is left out.
 * @throws DlxConfigurationError naming the option, the value, and the nearest option there is
 */
export function checkOptions<T extends object>(options: T, name: string): T {
  const origin = nameOf(name);
  const given = optionsOf(options, origin, 'write forRoot({ prefetch: 10 }), or forRoot() for the defaults');
  for (const option of Object.keys(given)) {
    const remedy = Object.hasOwn(forRootChecks, option) ? undefined : movedTo(option);
    if (remedy !== undefined) throw new DlxConfigurationError(`${origin}: ${remedy}`);
  }
  checkAll(given, forRootChecks, origin);
  checkNotices(given, name);
  return options;
}

/** The type of the wait queues: classic on one broker, quorum on a cluster. */
export const waitQueueTypeOf = ({ waitQueueType, clusterTopology = false }: TransportOptions): WaitQueueType =>
  waitQueueType ?? (clusterTopology === false ? 'classic' : 'quorum');

/** @param options checked by name and type already @throws DlxConfigurationError naming the option and the value */
export function resolveOptions(options: TransportOptions, name: string): ResolvedOptions {
  const origin = (option: string): string => `option '${option}' of ${nameOf(name)}`;
  const { events, requests } = ownExchanges(options, name);
  return {
    name,
    events,
    requests,
    envelope: options.envelope,
    prefetch: options.prefetch ?? 100,
    drainTimeout: parseDuration(options.drainTimeout ?? '10s', origin('drainTimeout')),
    stuckAfter: parseTimeLimit(options.stuckAfter ?? '1m', origin('stuckAfter'), leastStuckAfter),
    errorHeaders: errorHeaders(options.errorHeaders ?? true, origin('errorHeaders')),
    errorHistory: errorsKept(options.errorHistory, options.errorHeaders !== false),
    fingerprint: options.fingerprint,
    notices: options.notices,
    retry: options.retry,
    queueRetry: options.queueRetry ?? {},
    circuits: circuitsOf(options.circuits ?? {}, origin('circuits')),
    random: options.random ?? Math.random,
    idempotencyStore: options.idempotencyStore,
    outbox: readOutbox(options.outbox, origin('outbox')) || undefined,
    waitQueueType: waitQueueTypeOf(options),
    clusterTopology: options.clusterTopology === true ? {} : options.clusterTopology || undefined,
    topology: readTopology(options.topology ?? {}, "option 'topology' of DlxBrokerModule"),
    declare: options.declare ?? true,
    metrics: options.metrics ?? false,
    logHandlers: options.logHandlers ?? true,
    logFailures: options.logFailures ?? 'all',
    logging: options.logging ?? {},
    health: resolveHealth(options.health, origin('health')),
  };
}

/** The exchanges of the application. @throws DlxConfigurationError for one without a name */
function ownExchanges(
  { events, requests }: TransportOptions,
  name: string,
): Record<'events' | 'requests', NamedExchange> {
  const origin = (option: string): string => `option '${option}' of ${nameOf(name)}`;
  return {
    events: exchange(events, { name: 'dlx.events', type: 'topic' }, origin('events')),
    requests: exchange(requests, { name: 'dlx.requests', type: 'direct' }, origin('requests')),
  };
}

/** @throws DlxConfigurationError for the exchange of another option: handlers of all events would get notices as events */
function checkNotices(options: TransportOptions, name: string): void {
  for (const [option, exchange] of Object.entries(ownExchanges(options, name))) {
    if (exchange.name !== options.notices) continue;
    const why = "its handlers would get notices; give notices an exchange of their own, such as 'dlx.notices'";
    const origin = `option 'notices' of ${nameOf(name)}`;
    throw new DlxConfigurationError(`${origin}: '${exchange.name}' is the exchange of option '${option}', and ${why}`);
  }
}

function circuitsOf(
  given: NonNullable<TransportOptions['circuits']>,
  origin: string,
): ReadonlyMap<string, ResolvedCircuit> {
  const all = Object.entries(given).filter(([, options]) => options !== undefined);
  return new Map(all.map(([name, options]) => [name, resolveCircuit(options, `${origin}, circuit '${name}'`)]));
}

function exchange(option: string | NamedExchange | undefined, preset: NamedExchange, origin: string): NamedExchange {
  const chosen = typeof option === 'string' ? { ...preset, name: option } : { ...preset, ...option };
  if (typeof chosen.name === 'string' && chosen.name !== '') return chosen;
  throw new DlxConfigurationError(`${origin}: an exchange needs a name`);
}

function errorHeaders(option: boolean | ErrorHeaderOptions, origin: string): Required<ErrorHeaderOptions> | undefined {
  if (option === false) return undefined;
  const { stack = 2048, message = 1024 } = option === true ? {} : option;
  whole(0, 65_536).read(stack, optionIn(origin, 'stack'));
  whole(0, 65_536).read(message, optionIn(origin, 'message'));
  return { stack, message };
}
