import type { TlsOptions } from '../../amqp/client/index.js';
import type { Clock } from '../../engine/broker/index.js';
import { inTime, isThenable } from '../../platform/index.js';

/** What a backend warns of. */
export type WarningEvent =
  | 'notConnected'
  | 'connectionLost'
  | 'connected'
  | 'blocked'
  | 'unblocked'
  | 'declarationWaits'
  | 'declarationFailed'
  | 'comparedByDeclaring'
  | 'policyConflict'
  | 'policiesUnchecked'
  | 'republishedInDoubt';

/** Gets a warning for operators: one line of text. @param reason the part of the text that another program wrote */
export type Warn = (text: string, event: WarningEvent, reason?: string) => void;

/** A user of the server, with a password. */
interface RabbitMqUser {
  readonly user: string;
  readonly password: string;
}

/**
 * How to log in. `{ mechanism: 'EXTERNAL' }`: the server takes the user from the certificate of option `tls`, where it has the plugin
 * `rabbitmq_auth_mechanism_ssl`.
 */
export type RabbitMqCredentials = RabbitMqUser | { readonly mechanism: 'EXTERNAL' };

/** A value, a promise of one, or a function that is called for each connection, so that it may change. */
type Supplied<T> = T | Promise<T> | (() => T | Promise<T>);

/** What {@link rabbitmq} takes. Durations are milliseconds or strings such as `'10s'`. */
export interface RabbitMqOptions {
  /**
   * Where the servers of the cluster are: `amqp://user:password@host:5672/vhost`, `amqps://` for TLS. They are tried one after
   * the other. A function is called for each attempt to connect.
   */
  readonly urls: Supplied<string | readonly string[]>;
  /** User and password, or `{ mechanism: 'EXTERNAL' }` for the certificate of `tls`; they take precedence over those in the URLs. A function is called for each attempt to connect. */
  readonly credentials?: Supplied<RabbitMqCredentials>;
  /** Options of Node's `tls.connect` for `amqps://`: `ca`, `cert`, `key`, `servername` ... */
  readonly tls?: TlsOptions;
  /** The name of the connection, as management shows it. Default: `dlx-broker` and the id of this process. */
  readonly connectionName?: string;
  /** Seconds; a connection on which nothing came for twice as long is replaced. 0 switches heartbeats off. Default 10. */
  readonly heartbeat?: number;
  /** How often all URLs are tried when the application starts, before the start fails. Default 20. */
  readonly startAttempts?: number;
  /** How long one attempt to connect may take. Default `'10s'`. */
  readonly connectTimeout?: number | string;
  /** The longest pause between two attempts to connect; the first is 100 ms, and it doubles. Default `'2s'`. */
  readonly longestPause?: number | string;
  /** Time limit of a publish until its confirm, including time without a connection. Default `'30s'`. */
  readonly publishTimeout?: number | string;
  /** How long a message that the server refused (nack) is published again. 0: it fails at once. Default `'30s'`. */
  readonly refusedFor?: number | string;
  /** Publishes that may be unconfirmed at a time. Default 1000. */
  readonly unconfirmed?: number;
  /** Limits of the unconfirmed messages in this process: `messages` (default 100,000) and `bytes` (64 MiB). */
  readonly publishBuffer?: PublishBuffer;
  /** How long a declaration is tried while the server cannot do it yet (no leader, 541), and how long one answer may take. Default `'30s'`. */
  readonly declareTimeout?: number | string;
  /** How long `close` waits for confirms. Default `'5s'`. */
  readonly closeTimeout?: number | string;
  /**
   * The `consumer_timeout` of a RabbitMQ where it is not 30 minutes: a RabbitMQ does not say it to clients. It decides which policies
   * `@Ordered` may have. Milliseconds, a string, or false for no limit. Default: 30 minutes, and what a dlx-broker says.
   */
  readonly consumerTimeout?: number | string | false;
  /**
   * The management API, `http://user:password@host:15672`: for patterns of queue names, `policies`, the comparison of existing queues, and the
   * check of policies that change what queues need. Default none.
   */
  readonly management?: string;
  /** Policies that are put through the management API before the topology is declared. Needs option `management`. */
  readonly policies?: readonly RabbitMqPolicy[];
  /** True: a policy of others that changes what a declared queue needs fails the start. Default false: a warning. */
  readonly strictPolicies?: boolean;
}

/** A policy of RabbitMQ. */
export interface RabbitMqPolicy {
  readonly name: string;
  /** A regular expression of the server, for the names of queues or exchanges. */
  readonly pattern: string;
  /** Default `queues`. */
  readonly applyTo?: 'queues' | 'exchanges' | 'all';
  /** `{ 'max-length': 10_000 }`. The keys have no `x-`. */
  readonly definition: Readonly<Record<string, string | number | boolean>>;
  /** Of several policies the one with the highest priority applies. Default 0. */
  readonly priority?: number;
}

/** Limits of the unconfirmed messages. */
export interface PublishBuffer {
  readonly messages?: number;
  readonly bytes?: number;
}

/** The same, checked and complete; durations are milliseconds. */
export interface ResolvedRabbitMq {
  readonly urls: RabbitMqOptions['urls'];
  readonly credentials: RabbitMqOptions['credentials'];
  readonly tls: TlsOptions | undefined;
  readonly connectionName: string;
  readonly heartbeat: number;
  readonly startAttempts: number;
  readonly connectTimeout: number;
  readonly longestPause: number;
  readonly publishTimeout: number;
  readonly refusedFor: number;
  readonly unconfirmed: number;
  readonly publishBuffer: Required<PublishBuffer>;
  readonly declareTimeout: number;
  readonly closeTimeout: number;
  /** Infinity for no limit. */
  readonly consumerTimeout: number | undefined;
  readonly management: string | undefined;
  readonly policies: readonly RabbitMqPolicy[];
  readonly strictPolicies: boolean;
}

/** The names of options that may be functions or promises. */
type SuppliedOption = 'urls' | 'credentials';

/** What the wait for a value needs. */
export interface SupplyHost {
  readonly clock: Clock;
  /** Milliseconds, see option `connectTimeout`. */
  readonly limit: number;
  /** Gets a function that ends the wait. The promise then stays open. */
  readonly waits: (cancel: () => void) => void;
}

/**
 * The value that an option has now. A function is called, and a promise is waited for, no longer than the limit.
 * @throws Error that names the option, when the function throws, or the promise rejects or is late
 */
export async function supplied<T>(value: Supplied<T>, option: SuppliedOption, host: SupplyHost): Promise<T> {
  try {
    const given = typeof value === 'function' ? (value as () => T | Promise<T>)() : value;
    if (!isThenable(given)) return given;
    const { clock, limit, waits } = host;
    const late = `it gave no value within ${limit} ms (option 'connectTimeout')`;
    return await inTime(given, { clock, milliseconds: limit }, late, waits);
  } catch (error) {
    throw supplyFailure(option, error);
  }
}

/** The error for what was thrown while the value of an option was made or read. */
export function supplyFailure(option: SuppliedOption, error: unknown): Error {
  const text = error instanceof Error ? error.message : 'a value that is no error was thrown';
  return new Error(`option '${option}' of rabbitmq() failed: ${text}`, { cause: error });
}

/** @throws Error for a value without a user or a password; the error does not contain the value */
export function checkedCredentials(given: unknown): RabbitMqCredentials {
  if (isExternal(given)) return given;
  const { user, password } = (given ?? {}) as Partial<Readonly<Record<string, unknown>>>;
  if (typeof user === 'string' && typeof password === 'string') return { user, password };
  throw new Error("option 'credentials' of rabbitmq() gave no { user, password } of two strings; return both");
}

/** True for the login by certificate. */
export const isExternal = (given: unknown): given is { readonly mechanism: 'EXTERNAL' } =>
  typeof given === 'object' && given !== null && (given as { readonly mechanism?: unknown }).mechanism === 'EXTERNAL';
