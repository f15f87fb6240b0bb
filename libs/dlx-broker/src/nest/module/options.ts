import type { Backend } from '../../backends/index.js';
import type { Broker } from '../../engine/broker/index.js';
import { DlxConfigurationError, optionsOf } from '../../platform/options/index.js';
import type { OperatedHandlers } from '../../server/index.js';
import type { Meter, MeteredHandlers } from '../../server/metrics/index.js';
import { embeddedChecks } from '../brokers/embedded.js';
import { type BrokerChoice, isChoice } from '../brokers/made.js';
import { rabbitmqChecks } from '../brokers/rabbitmq.js';
import type { ErrorHeaderOptions } from '../features/error-history/options.js';
import { checkAll, type Checks, isFlag, isText, readAll, type ReadBy } from './check-options.js';
import { transportChecks, type TransportOptions } from './transport-options.js';

export type { ErrorHeaderOptions, TransportOptions };

export const defaultBrokerName = 'default';

/** The options of `forRoot`, and of the factory of `forRootAsync`. */
export interface DlxBrokerOptions extends TransportOptions {
  /** Where the broker is. Default `embedded()`: a broker in the process of the application, in memory. */
  readonly broker?: BrokerChoice;
}

/** Options that have to be known before a factory runs. */
export interface DlxBrokerModuleExtras {
  /** The name of the broker, in an application with several. Default `default`. */
  readonly name?: string;
  /** True: other modules may inject client, broker and dead letters without importing this module. Default true. */
  readonly isGlobal?: boolean;
}

/** The options of the transport, checked and complete. */
export interface ResolvedOptions extends ReadBy<typeof transportChecks> {
  readonly name: string;
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
  return options;
}

/** @throws DlxConfigurationError naming the option and the value */
export const resolveOptions = (options: TransportOptions, name: string): ResolvedOptions => ({
  name,
  ...readAll({ ...options }, transportChecks, nameOf(name)),
});
