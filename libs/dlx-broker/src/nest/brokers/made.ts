import { DlxConfigurationError, optionsOf } from '../../platform/options/index.js';
import { type Check, checkAll, type Checks } from '../module/check-options.js';
import { transportChecks } from '../module/transport-options.js';

/**
 * The key of values that only the functions of this folder make. A plain object was not checked, so it is no choice of a broker.
 */
export const made: unique symbol = Symbol('made by a function of dlx-broker');

/** A broker that an application chose: a frozen value. */
export interface Made<Kind extends string> {
  readonly kind: Kind;
  /** @internal */
  readonly [made]: true;
}

/** Where the broker of an application is. Each kind is made by a function of its own, which checks its options. */
export type BrokerChoice = Made<'embedded'> | Made<'shared'> | Made<'rabbitmq'> | Made<'custom'>;

/** @returns a frozen value of that kind */
export const make = <Kind extends string, Rest extends object>(kind: Kind, rest: Rest): Readonly<Made<Kind> & Rest> =>
  Object.freeze({ kind, [made]: true as const, ...rest });

/**
 * Checks the options of one kind of broker.
 * @param by the function that the application called: `embedded()`
 * @returns a frozen copy
 * @throws DlxConfigurationError naming the option, the value and a remedy
 */
export function read<T extends object>(options: T, checks: Checks<T>, by: string, remedy: string): Readonly<T> {
  const given = optionsOf(options, by, remedy);
  const name = by.slice(0, by.indexOf('('));
  const astray = Object.keys(given).find((key) => !Object.hasOwn(checks, key) && Object.hasOwn(transportChecks, key));
  if (astray !== undefined) {
    throw new DlxConfigurationError(
      `${by}: '${astray}' is an option of forRoot(): forRoot({ broker: ${name}(...), ${astray} })`,
    );
  }
  checkAll(given, checks, by);
  return Object.freeze({ ...options });
}

/** Remedies for values that are no choice of a broker, by a method that they have. */
const meanings: readonly (readonly [method: string, remedy: string])[] = [
  ['virtualHost', 'is a Broker of dlx-broker/engine; write broker: sharedBroker(broker)'],
  ['declare', 'is a Backend; write broker: customBackend(backend)'],
];

/** Checks the option `broker`. The error never shows the value, because a connection may hold a password. */
export const isChoice: Check = (value, origin) => {
  const given = (value ?? {}) as Readonly<Record<string | symbol, unknown>>;
  if (given[made] === true) return;
  const [, remedy] = meanings.find(([method]) => typeof given[method] === 'function') ?? [];
  const kinds =
    typeof value === 'string'
      ? "a string is no broker; write rabbitmq({ urls: '...' }) for a server, or embedded() for a broker in this process"
      : `${typeof value} is no broker; write embedded(), sharedBroker(broker), rabbitmq({ urls }) or customBackend(backend)`;
  throw new DlxConfigurationError(`${origin}: ${remedy ?? kinds}`);
};
