import type { TlsOptions } from '../../amqp/client/index.js';

/** A user of the server, with a password. */
export interface RabbitMqUser {
  readonly user: string;
  readonly password: string;
}

/**
 * How to log in. `{ mechanism: 'EXTERNAL' }`: the server takes the user from the certificate of option `tls`, where it has the plugin
 * `rabbitmq_auth_mechanism_ssl`.
 */
export type RabbitMqCredentials = RabbitMqUser | { readonly mechanism: 'EXTERNAL' };

/** A value, a promise of one, or a function that is called for each connection, so that it may change. */
export type Supplied<T> = T | Promise<T> | (() => T | Promise<T>);

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
  /** Limits of the unconfirmed messages in this process. Default 100,000 messages and 64 MiB. */
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
