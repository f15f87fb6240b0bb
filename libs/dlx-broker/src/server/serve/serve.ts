import type { Limits, Listener, TlsOptions } from '../../amqp/server/index.js';
import type { Broker, ProfileName } from '../../engine/broker/index.js';
import type { HttpListener, HttpOptions } from '../index.js';
import type { MetricsListener, MetricsOptions } from '../metrics/index.js';
import { openBroker, type Reporter, startLine } from './open-broker.js';
import type { DataOptions } from '../../store/index.js';
import { addUsers, doubtsAbout, guestOf, refuseUnknownVhosts, type ServedUser } from '../../platform/logins/index.js';
import { Listeners } from './listeners.js';
import { optionsOf } from '../../platform/options/index.js';

/** Options of `serve`; each has a default. */
export interface ServeOptions extends Reporter {
  readonly amqp?: { readonly host: string; readonly port: number };
  /** TLS for AMQP clients. The management API has an option of its own in `http`. */
  readonly tls?: TlsOptions;
  /** Opens the management API, by default on loopback at 15672; without it there is none. */
  readonly http?: HttpOptions;
  /** Opens a port for Prometheus, by default 15692 on loopback; without it there is none. */
  readonly metrics?: MetricsOptions;
  /** The file of the audit log: every change that operators make over HTTP is appended. */
  readonly audit?: string;
  /** Definitions to import at the start: JSON as `export_definitions` writes it. */
  readonly definitions?: string;
  /** Keeps durable queues in a directory; without it everything is in memory. */
  readonly data?: DataOptions & { readonly directory: string };
  /** The version of RabbitMQ to behave like. */
  readonly rabbitmq?: ProfileName;
  /** How long a delivery may stay unacknowledged, in milliseconds; Infinity for ever. Default 30 minutes. */
  readonly consumerTimeout?: number;
  /** When an at-least-once dead letter that did not arrive is published again, in milliseconds. Default 3 minutes. */
  readonly deadLetterRetryAfter?: number;
  /** Virtual hosts besides `/`. */
  readonly virtualHosts?: readonly string[];
  /**
   * Default: the users in the data directory and those that `definitions` names; without any, `guest` with the password `guest`, who
   * may do everything, but only from this machine.
   */
  readonly users?: readonly ServedUser[];
  readonly limits?: Partial<Limits>;
  /**
   * The memory in use above which publishers wait. Up to 1: a share of the memory of the container, or of the machine without a
   * container limit. Above 1: bytes. Default 0.4.
   */
  readonly memoryLimit?: number;
  /**
   * Gives up a start, which may take seconds with a large data directory: nothing stays open, and the data directory is as it was. Without
   * effect once the broker has started.
   */
  readonly signal?: AbortSignal;
}

const known = {
  amqp: true,
  tls: true,
  http: true,
  metrics: true,
  audit: true,
  definitions: true,
  data: true,
  rabbitmq: true,
  consumerTimeout: true,
  deadLetterRetryAfter: true,
  virtualHosts: true,
  users: true,
  limits: true,
  memoryLimit: true,
  signal: true,
  notice: true,
  log: true,
  lost: true,
} satisfies Record<keyof ServeOptions, true>;

/** A running stand-alone broker, and its ports. */
export interface Served {
  readonly broker: Broker;
  readonly amqp: Listener;
  readonly http: HttpListener | undefined;
  readonly metrics: MetricsListener | undefined;
  /** Closes all connections (320), completes writes to the disk, and ends. */
  close(): Promise<void>;
}

/**
 * Starts a stand-alone broker and opens its ports.
 * @throws an error if a port cannot be opened, or if the definitions, the users or the data directory are invalid; the reason of
 * the signal
 */
export async function serve(options: ServeOptions = {}): Promise<Served> {
  const {
    tls,
    limits,
    http,
    metrics,
    audit,
    definitions,
    virtualHosts = [],
    users,
    memoryLimit,
    notice,
    log,
  } = options;
  optionsOf(options, 'serve()', 'write { amqp: { host, port } }', Object.keys(known));
  options.signal?.throwIfAborted();
  const own = await openBroker(options, options);
  const { broker, data } = own;
  const line = startLine(own);
  const amqp = { ...options.amqp, ...(tls && { tls }), ...(limits && { limits }) };
  const listeners = new Listeners(broker, data, { amqp, http, metrics, audit, memoryLimit, notice, log });
  const close = async (): Promise<void> => {
    await listeners.close();
    await own.close();
  };
  try {
    options.signal?.throwIfAborted();
    for (const name of virtualHosts) broker.addVirtualHost(name);
    if (definitions === undefined) refuseUnknownVhosts(broker, users ?? []);
    if (users !== undefined) addUsers(broker, users);
    const addGuest = (): void => {
      if (users === undefined && broker.access.users().length === 0) addUsers(broker, [guestOf('/')]);
    };
    if (definitions === undefined) addGuest();
    else {
      await listeners.load(definitions, addGuest);
      refuseUnknownVhosts(broker, users ?? []);
    }
    if (users !== undefined || definitions !== undefined) doubtsAbout(broker.access).forEach((line) => notice?.(line));
    await listeners.open();
    options.signal?.throwIfAborted();
    notice?.(line);
    return { broker, amqp: listeners.amqp as Listener, http: listeners.http, metrics: listeners.metrics, close };
  } catch (error) {
    await close();
    throw error;
  }
}
