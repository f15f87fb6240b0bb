import 'reflect-metadata';
import { DlxConfigurationError } from '../../platform/options/index.js';

/** The settings of one decorator of a handler: plain data, read when the application starts. */
export interface Contribution {
  /** Without the `@`. */
  readonly decorator: string;
  readonly settings: Readonly<Record<string, unknown>>;
  /** A value that is no object of options where one was expected. */
  readonly misplaced?: { readonly value: unknown };
}

const contributionsKey = 'dlx-broker:contributions';

/**
 * Makes a decorator. It only contributes data, which is checked when the application starts.
 * @param options the object of options of the user, if any; its entries are added to the settings
 * @throws DlxConfigurationError at once for a decorator without parentheses, and for one that is not above a method of an instance: it
 * would have no effect
 */
export function contribute(
  decorator: string,
  settings: Readonly<Record<string, unknown>>,
  options?: { readonly given: unknown },
): MethodDecorator {
  refuseBare(decorator, [...Object.values(settings), options?.given]);
  const isRecord = typeof options?.given === 'object' && options.given !== null && !Array.isArray(options.given);
  const contribution: Contribution = {
    decorator,
    settings: isRecord ? { ...settings, ...(options.given as Contribution['settings']) } : settings,
    ...(options !== undefined && !isRecord && { misplaced: { value: options.given } }),
  };
  return noting(decorator, contributionsKey, contribution);
}

/**
 * Makes a decorator that notes an entry on the method below it.
 * @param key of the metadata
 * @throws DlxConfigurationError above anything but a method of an instance, and on a method that an application has read
 */
export function noting(decorator: string, key: string, entry: object): MethodDecorator {
  return (target: object, name?: string | symbol, descriptor?: PropertyDescriptor) => {
    const method: unknown = descriptor?.value;
    if (typeof target === 'function' || typeof method !== 'function') {
      throw new DlxConfigurationError(`@${decorator} stands above ${placeOf(target, name, descriptor)}; ${remedy}`);
    }
    if (readMethods.has(method)) {
      throw new DlxConfigurationError(
        `@${decorator} on ${nameOf(target, name)} comes too late: an application has read its handlers, so it would have no effect; write it above ` +
          'the method, or return it from @HandlerAsync({ inject: [ConfigService], useFactory: (config) => [...] }) there',
      );
    }
    Reflect.defineMetadata(key, [entry, ...entriesOf(key, method)], method);
  };
}

/** The methods that an application has read: a further decorator would have no effect. */
const readMethods = new WeakSet<object>();

const entriesOf = (key: string, method: object): readonly unknown[] =>
  (Reflect.getMetadata(key, method) as readonly unknown[] | undefined) ?? [];

/** The entries of a method, in the order in which they are written above it. It takes no further ones. */
export function readEntries<Entry>(key: string, method: object): readonly Entry[] {
  readMethods.add(method);
  return entriesOf(key, method) as readonly Entry[];
}

/**
 * Refuses a decorator without parentheses. It gets what it should stand above instead of its parameters: the prototype of a class.
 * Only a compiler of types would refuse that.
 * @param given the parameters of the decorator
 */
export function refuseBare(decorator: string, given: readonly unknown[]): void {
  const bare = given.find(isPrototype);
  if (bare === undefined) return;
  const owner = bare.constructor.name || 'a class';
  throw new DlxConfigurationError(
    `@${decorator} above a method of ${owner} has no parentheses; write @${decorator}(), with its parameters if it has any`,
  );
}

const isPrototype = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  Object.hasOwn(value, 'constructor') &&
  (value.constructor as { readonly prototype?: unknown } | undefined)?.prototype === value;

const remedy = 'it is for methods: put it above the method that handles the messages';

function nameOf(target: object, key?: string | symbol): string {
  const owner = (typeof target === 'function' ? target : target.constructor) as { readonly name?: string };
  return `${owner.name || 'a class'}${key === undefined ? '' : `.${String(key)}`}`;
}

/** The place of a misplaced decorator, for the error. */
function placeOf(target: object, key?: string | symbol, descriptor?: PropertyDescriptor): string {
  const name = nameOf(target, key);
  if (key === undefined) return `the class ${name}`;
  if (typeof descriptor === 'number') return `a parameter of ${name}`;
  if (typeof target === 'function') return `the static member ${name}`;
  return descriptor === undefined ? `the property ${name}` : `the accessor or property ${name}`;
}

/** In the order in which they are written above the method, which takes no further ones. */
export const contributionsOf = (method: object): readonly Contribution[] => readEntries(contributionsKey, method);
