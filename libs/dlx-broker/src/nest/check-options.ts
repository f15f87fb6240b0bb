import {
  checkMethods,
  flag,
  oneOf,
  optionsOf,
  parseDuration,
  refused,
  refuseUnknown,
  text,
  whole,
} from '../options/index.js';
import { checkExchange, checkStore } from './handler-settings.js';
import type { TransportOptions } from './options.js';

/** Throws a DlxConfigurationError, or lets a value pass. */
export type Check = (value: unknown, origin: string) => unknown;

/** The keys of every member of a union. */
type KeyOf<T> = T extends unknown ? keyof T : never;

/** One row for each option of T: its name, and what its value has to be. No other list of the options exists. */
export type Checks<T> = Readonly<Record<KeyOf<T>, Check>>;

/**
 * Checks options by name and by type. An option that is undefined is left out.
 * @param origin what takes the options: `embedded()`
 * @throws DlxConfigurationError naming the option, the value, and the nearest option there is
 */
export function checkAll(given: Readonly<Record<string, unknown>>, checks: Checks<object>, origin: string): void {
  const rows = new Map<string, Check>(Object.entries(checks));
  refuseUnknown(given, [...rows.keys()], origin);
  for (const [option, value] of Object.entries(given)) {
    if (value !== undefined) rows.get(option)?.(value, `option '${option}' of ${origin}`);
  }
}

/** For options that are read, and refused, where they are used. */
export const readLater: Check = () => undefined;

export const isText: Check = (value, origin) => {
  if (text.read(value, origin).value === '') throw refused(value, origin, 'is empty; write a text, or leave it out');
};

export const isFunction: Check = (value, origin) => {
  if (typeof value !== 'function') throw refused(value, origin, 'is not a function');
};

/** A whole number of bytes. */
export const areBytes: Check = (value, origin) => whole(0, Number.MAX_SAFE_INTEGER).read(value, origin);

export const isOneOf =
  (...words: readonly string[]): Check =>
  (value, origin) =>
    oneOf(...words).read(value, origin);

export const isFlag: Check = (value, origin) => flag.read(value, origin);

/** Something with methods. */
export const has =
  (what: string, ...methods: readonly string[]): Check =>
  (value, origin) => {
    checkMethods(value, origin, what, methods);
  };

const isDuration: Check = (value, origin) => parseDuration(value as string, origin);

const isExchange: Check = (value, origin) => {
  if (typeof value === 'string') {
    isText(value, origin);
    return;
  }
  const given = optionsOf(value, origin, "write a name, or { name: 'shop', type: 'topic' }");
  checkExchange({ name: 'as it is', ...given }, origin);
};

const isPolicy: Check = (value, origin) => optionsOf(value, origin, 'write { attempts: 5 }, or leave it out for none');

const arePolicies: Check = (value, origin) => {
  const policies = optionsOf(value, origin, "write { 'the queue': { attempts: 5 } }");
  for (const [queue, policy] of Object.entries(policies)) {
    if (policy !== undefined && policy !== false) isPolicy(policy, `${origin}, queue '${queue}'`);
  }
};

const areErrorHeaders: Check = (value, origin) => {
  if (typeof value === 'boolean') return;
  refuseUnknown(optionsOf(value, origin, 'write true, false or { stack: 0 }'), ['stack', 'message'], origin);
};

const isClusterTopology: Check = (value, origin) => {
  if (typeof value === 'boolean') return;
  const given = optionsOf(value, origin, 'write true, false or { deliveryLimit: 20 }');
  refuseUnknown(given, ['deliveryLimit'], origin);
  const { deliveryLimit } = given as { readonly deliveryLimit?: unknown };
  if (deliveryLimit !== undefined) whole(0, Number.MAX_SAFE_INTEGER).read(deliveryLimit, `${origin}, deliveryLimit`);
};

/** Every option of the transport, and what it accepts. */
export const transportChecks = {
  events: isExchange,
  requests: isExchange,
  prefetch: (value, origin) => whole(0, 65_535).read(value, origin),
  drainTimeout: isDuration,
  errorHeaders: areErrorHeaders,
  retry: isPolicy,
  queueRetry: arePolicies,
  random: isFunction,
  idempotencyStore: checkStore,
  waitQueueType: isOneOf('classic', 'quorum'),
  clusterTopology: isClusterTopology,
  topology: readLater,
  declare: isFlag,
  logHandlers: isFlag,
  logFailures: isOneOf('all', 'last', 'none'),
} satisfies Checks<TransportOptions>;
