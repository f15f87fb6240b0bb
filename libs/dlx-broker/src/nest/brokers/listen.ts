import type { ListenOptions as AmqpOptions } from '../../amqp/server/index.js';
import type { MetricsOptions } from '../../server/metrics/index.js';
import type { HttpOptions } from '../../server/index.js';
import { DlxConfigurationError, optionsOf, refused } from '../../platform/options/index.js';
import type { ServedUser } from '../../platform/logins/index.js';
import {
  type Check,
  checkAll,
  type Checks,
  isFlag,
  isFunction,
  isText,
  isWhole,
  optionIn,
  readLater,
} from '../module/check-options.js';

/** A port for AMQP 0-9-1 clients: by default 5672 on loopback; 0 is any free port. */
export type AmqpPortOptions = Omit<AmqpOptions, 'authenticate' | 'http' | 'throttle'>;

/** A port for the management API: by default 15672 on loopback; 0 is any free port. */
export type HttpPortOptions = Omit<HttpOptions, 'resources'>;

/** The options that do not depend on the port for HTTP. */
interface PortOptions {
  /** A port for AMQP 0-9-1 clients: by default 5672 on loopback; 0 is any free port. */
  readonly amqp?: AmqpPortOptions;
  /**
   * A port for Prometheus, without a login: by default 15692 on loopback; 0 is any free port. It shows what the option `metrics`
   * of `forRoot` measures.
   */
  readonly metrics?: MetricsOptions;
  /**
   * The memory in use above which publishers at these ports wait. Up to 1: a share of the memory of the container, or of the
   * machine without a container limit. Above 1: bytes. Default 0.4.
   */
  readonly memoryLimit?: number;
  /** The users who may log in. Default: `guest` with the password `guest`, who may do everything, but only from this machine. */
  readonly users?: readonly ServedUser[];
}

interface WithHttp extends PortOptions {
  /** A port for the management API: by default 15672 on loopback; 0 is any free port. */
  readonly http: HttpPortOptions;
  /** The file of the audit log, which has every change that operators make over HTTP. */
  readonly audit?: string;
}

interface WithoutHttp extends PortOptions {
  readonly http?: HttpPortOptions;
  readonly audit?: undefined;
}

/** Ports through which other processes share the queues of a broker in this process. `audit` needs `http`. */
export type ListenOptions = WithHttp | WithoutHttp;

const port = isWhole(0, 65_535);

const isObject: Check = (value, origin) => optionsOf(value, origin, 'write {}, or leave it out');

/** Every option of `listen.amqp`, and what it accepts. */
export const amqpChecks = {
  host: isText,
  port,
  tls: isObject,
  limits: isObject,
  memory: isFunction,
  alarms: readLater,
  notice: isFunction,
  log: isFunction,
} satisfies Checks<AmqpPortOptions>;

/** Every option of `listen.http`, and what it accepts. */
export const httpChecks = {
  host: isText,
  port,
  tls: isObject,
  limits: isObject,
  hosts: readLater,
  bodyLimit: readLater,
  console: isFlag,
  edits: isFlag,
} satisfies Checks<HttpPortOptions>;

/** Every option of `listen.metrics`, and what it accepts. */
const metricsChecks = { host: isText, port } satisfies Checks<MetricsOptions>;

const isPort =
  <T>(checks: Checks<T>): Check =>
  (value, origin) => {
    const given = typeof value === 'number' ? value : 0;
    checkAll(optionsOf(value, origin, `write { port: ${given} }, or {} for the usual port`), checks, origin);
  };

const userOptions = ['name', 'password', 'tags', 'permissions'] as const;

const areUsers: Check = (value, origin) => {
  const remedy = "write [{ name: 'shop', password: '...', permissions: { '/': { configure, write, read } } }]";
  if (!Array.isArray(value)) throw refused(typeof value, origin, `is not a list of users; ${remedy}`);
  for (const [index, given] of (value as readonly unknown[]).entries()) {
    const place = optionIn(origin, `[${index}]`);
    if (typeof given === 'string') throw refused('string', place, `is no user; ${remedy}`); // never the value
    const user = optionsOf<Record<keyof ServedUser, unknown>>(given, place, remedy, userOptions);
    const missing = (['name', 'password'] as const).find((name) => user[name] === undefined);
    if (missing !== undefined) {
      throw new DlxConfigurationError(`${optionIn(place, missing)} is missing; write a string`);
    }
    isText(user['name'], optionIn(place, 'name'));
    if (typeof user['password'] !== 'string') {
      throw refused(typeof user['password'], optionIn(place, 'password'), 'is not a string'); // never the value
    }
  }
};

const isShareOrBytes: Check = (value, origin) => {
  if (typeof value === 'number' && value > 0 && value < Infinity) return;
  throw refused(value, origin, 'is neither a share of memory such as 0.4 nor a number of bytes');
};

/** Every option of `listen`, and what it accepts. */
export const listenChecks = {
  amqp: isPort(amqpChecks),
  http: isPort(httpChecks),
  metrics: isPort(metricsChecks),
  audit: isText,
  memoryLimit: isShareOrBytes,
  users: areUsers,
} satisfies Checks<ListenOptions>;

/** Checks the option `listen`. */
export const isListen: Check = (value, origin) => {
  const remedy = `write { amqp: { port: ${typeof value === 'number' ? value : 5672} } }`;
  const listen = optionsOf(value, origin, remedy);
  checkAll(listen, listenChecks, origin);
  if (listen['audit'] === undefined || listen['http'] !== undefined) return;
  throw new DlxConfigurationError(
    `${origin}: 'audit' is about the port of option 'listen.http'; write { http: {}, audit }`,
  );
};
