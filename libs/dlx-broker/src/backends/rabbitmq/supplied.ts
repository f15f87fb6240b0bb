import type { Clock } from '../../engine/broker/index.js';
import { inTime, isThenable, shownText } from '../../platform/index.js';
import { nearestWord } from '../../platform/options/index.js';
import type { RabbitMqCredentials, Supplied } from './options.js';

/** The names of options that may be functions or promises. */
export type SuppliedOption = 'urls' | 'credentials';

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
  let hint = '';
  if (typeof given === 'object' && given !== null) {
    const { user, password } = given as Partial<Readonly<Record<string, unknown>>>;
    if (typeof user === 'string' && typeof password === 'string') return { user, password };
    hint = typeof user === 'string' ? misnamedIn(given, 'password') : misnamedIn(given, 'user');
  }
  throw new Error(
    `option 'credentials' of rabbitmq() gave no { user, password } of two strings${hint || ';'} return both`,
  );
}

/** Names that other libraries and stores of secrets use. */
const otherNames: Readonly<Record<'user' | 'password', readonly string[]>> = {
  user: ['user', 'username', 'user_name', 'login'],
  password: ['password', 'pass', 'passwd', 'passphrase', 'pwd', 'secret'],
};

/** @returns `, but 'username' is there: did you mean 'user'?` for a field with another name; empty if there is none */
export function misnamedIn(given: object, name: 'user' | 'password'): string {
  const other = Object.keys(given).find((key) => key !== name && nearestWord(key, otherNames[name]) !== undefined);
  return other === undefined ? '' : `, but '${shownText(other, 40)}' is there: did you mean '${name}'?`;
}

/** True for the login by certificate. */
export const isExternal = (given: unknown): given is { readonly mechanism: 'EXTERNAL' } =>
  typeof given === 'object' && given !== null && (given as { readonly mechanism?: unknown }).mechanism === 'EXTERNAL';
