import type { Backend } from '../backend/index.js';
import type { RetryPolicy, WaitQueueType } from '../retry/index.js';
import type { IdempotencyStore } from './idempotency/store.js';
import { DlxConfigurationError, optionsOf, parseDuration, whole } from '../options/index.js';
import { type ClusterOptions, type Contributions, readTopology, type TopologyOption } from '../topology/index.js';
import { type BrokerChoice, isChoice } from './brokers/choice.js';
import { embeddedChecks } from './brokers/embedded.js';
import { checkAll, type Checks, isFlag, isText, transportChecks } from './check-options.js';
import type { LogFailures } from './failure-log.js';
import type { NamedExchange } from './handler-settings.js';

export const defaultBrokerName = 'default';

/** Options of {@link DlxServer} and {@link DlxClient}. */
export interface TransportOptions {
  /** The topic exchange to which `emit` publishes and `@EventPattern` binds. Default `dlx.events`. */
  readonly events?: string | NamedExchange;
  /** The direct exchange to which `send` publishes and `@MessagePattern` binds. Default `dlx.requests`. */
  readonly requests?: string | NamedExchange;
  /** Messages a handler works on at the same time, unless `@Prefetch` says otherwise; 0 is unlimited. Default 100. */
  readonly prefetch?: number;
  /** How long a shutdown waits for running handlers: milliseconds or `'10s'`, which is the default. */
  readonly drainTimeout?: number | string;
  /** Which headers of a rejected message describe its failure. */
  readonly errorHeaders?: boolean | ErrorHeaderOptions;
  /**
   * Which failures of handlers are logged: `all` (the default) is a warning for each attempt that is followed by another
   * one, and an error with its stack for the last; `last` leaves the warnings out, `none` both.
   */
  readonly logFailures?: LogFailures;
  /** The retry policy of handlers without `@Retry`. Default: no retries. */
  readonly retry?: RetryPolicy;
  /** The retry policy of the handlers of a queue, by its name; false switches retries off. */
  readonly queueRetry?: Readonly<Record<string, RetryPolicy | false>>;
  /** The store of keys for `@Idempotent`. Default: in the memory of this process. */
  readonly idempotencyStore?: IdempotencyStore;
  /** Returns the random numbers for the jitter of retries: 0 up to but not including 1. Default `Math.random`. */
  readonly random?: () => number;
  /** The type of the wait queues of `@Retry`. Default `classic`, with `clusterTopology` `quorum`. */
  readonly waitQueueType?: WaitQueueType;
  /**
   * Declares durable queues as quorum queues whose dead letters are not lost: at-least-once, reject-publish and a delivery limit. A
   * queue that names its type keeps it. Default false.
   */
  readonly clusterTopology?: boolean | ClusterOptions;
  /** Declared together with what the handlers need: names, plain objects with defaults, or full declarations. */
  readonly topology?: TopologyOption;
  /** False: declares nothing, because everything exists. Default true. */
  readonly declare?: boolean;
  /** Whether the log shows each handler at start, with its queue, bindings, dead-letter exchange and retries. Default true. */
  readonly logHandlers?: boolean;
}

/** What `forRoot` takes, or the factory of `forRootAsync` returns. */
export interface DlxBrokerOptions extends TransportOptions {
  /** Where the broker is. Default `embedded()`: one of the application's own, in memory. */
  readonly broker?: BrokerChoice;
}

/** What has to be known before any factory runs. */
export interface DlxBrokerModuleExtras {
  /** Tells several brokers of one application apart. */
  readonly name?: string;
  /** Whether other modules may inject client, broker and dead letters without importing this one. Default true. */
  readonly isGlobal?: boolean;
}

/** How much of an error the headers of a rejected message keep. */
export interface ErrorHeaderOptions {
  /** Characters of the stack that are kept; 0 leaves it out. Default 2048. */
  readonly stack?: number;
  /** Characters of the message that are kept. Default 1024. */
  readonly message?: number;
}

/** The same, checked and complete. */
export interface ResolvedOptions {
  readonly name: string;
  readonly events: NamedExchange;
  readonly requests: NamedExchange;
  readonly prefetch: number;
  readonly drainTimeout: number;
  readonly errorHeaders: Required<ErrorHeaderOptions> | undefined;
  readonly retry: RetryPolicy | undefined;
  readonly queueRetry: Readonly<Record<string, RetryPolicy | false | undefined>>;
  readonly random: () => number;
  readonly idempotencyStore: IdempotencyStore | undefined;
  readonly waitQueueType: WaitQueueType;
  readonly clusterTopology: ClusterOptions | undefined;
  readonly topology: Required<Contributions>;
  readonly declare: boolean;
  readonly logHandlers: boolean;
  readonly logFailures: LogFailures;
}

/** Where something listens. */
export interface SocketAddress {
  readonly host: string;
  readonly port: number;
}

/** A broker as the module knows it: where it is, and what to do around its use. */
export interface Connected {
  readonly backend: Backend;
  /** @throws DlxConfigurationError when the application lost its broker before it was up. Absent where it cannot */
  check?(): void;
  /** The application shuts down. @param end resolves when no handler is at work any more */
  draining?(end: Promise<void>): void;
  /** Opens the ports that the options ask for. Idempotent. @throws DlxConfigurationError when one cannot be had */
  open(): Promise<void>;
  /** Where other processes reach the broker of this one, once it is open. */
  amqp(): SocketAddress | undefined;
  /** Where its management API is, once it is open. */
  http(): SocketAddress | undefined;
  /** Ends what the module itself began; nothing of what it was given. */
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

/** Options of forRoot that became options of a function which says where the broker is. @returns the remedy */
function movedTo(option: string): string | undefined {
  if (option === 'backend') return "'backend' is said by customBackend(): forRoot({ broker: customBackend(backend) })";
  if (!Object.hasOwn(embeddedChecks, option)) return undefined;
  return `'${option}' is an option of embedded(): forRoot({ broker: embedded({ ${option} }) })`;
}

/**
 * Checks what the user wrote, by name and by type, before any of it is used. An option that is undefined is left out.
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

/** Classic wait queues on one broker, replicated ones on a cluster. */
export const waitQueueTypeOf = ({ waitQueueType, clusterTopology = false }: TransportOptions): WaitQueueType =>
  waitQueueType ?? (clusterTopology === false ? 'classic' : 'quorum');

/** @param options checked by name and type already @throws DlxConfigurationError naming the option and the value */
export function resolveOptions(options: TransportOptions, name: string): ResolvedOptions {
  const origin = (option: string): string => `option '${option}' of ${nameOf(name)}`;
  return {
    name,
    events: exchange(options.events, { name: 'dlx.events', type: 'topic' }, origin('events')),
    requests: exchange(options.requests, { name: 'dlx.requests', type: 'direct' }, origin('requests')),
    prefetch: options.prefetch ?? 100,
    drainTimeout: parseDuration(options.drainTimeout ?? '10s', origin('drainTimeout')),
    errorHeaders: errorHeaders(options.errorHeaders ?? true, origin('errorHeaders')),
    retry: options.retry,
    queueRetry: options.queueRetry ?? {},
    random: options.random ?? Math.random,
    idempotencyStore: options.idempotencyStore,
    waitQueueType: waitQueueTypeOf(options),
    clusterTopology: options.clusterTopology === true ? {} : options.clusterTopology || undefined,
    topology: readTopology(options.topology ?? {}, "option 'topology' of DlxBrokerModule"),
    declare: options.declare ?? true,
    logHandlers: options.logHandlers ?? true,
    logFailures: options.logFailures ?? 'all',
  };
}

function exchange(option: string | NamedExchange | undefined, preset: NamedExchange, origin: string): NamedExchange {
  const chosen = typeof option === 'string' ? { ...preset, name: option } : { ...preset, ...option };
  if (typeof chosen.name === 'string' && chosen.name !== '') return chosen;
  throw new DlxConfigurationError(`${origin}: an exchange needs a name`);
}

function errorHeaders(option: boolean | ErrorHeaderOptions, origin: string): Required<ErrorHeaderOptions> | undefined {
  if (option === false) return undefined;
  const { stack = 2048, message = 1024 } = option === true ? {} : option;
  whole(0, 65_536).read(stack, `stack of ${origin}`);
  whole(0, 65_536).read(message, `message of ${origin}`);
  return { stack, message };
}
