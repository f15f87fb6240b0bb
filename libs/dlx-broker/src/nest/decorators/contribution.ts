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
  return (target: object, key?: string | symbol, descriptor?: PropertyDescriptor) => {
    const method: unknown = descriptor?.value;
    if (typeof target === 'function' || typeof method !== 'function') {
      throw new DlxConfigurationError(`@${decorator} stands above ${placeOf(target, key, descriptor)}; ${remedy}`);
    }
    Reflect.defineMetadata(contributionsKey, [contribution, ...contributionsOf(method)], method);
  };
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

/** The place of a misplaced decorator, for the error. */
function placeOf(target: object, key: string | symbol | undefined, descriptor: PropertyDescriptor | undefined): string {
  const owner = (typeof target === 'function' ? target : target.constructor) as { readonly name?: string };
  const name = `${owner.name || 'a class'}${key === undefined ? '' : `.${String(key)}`}`;
  if (key === undefined) return `the class ${name}`;
  if (typeof descriptor === 'number') return `a parameter of ${name}`;
  if (typeof target === 'function') return `the static member ${name}`;
  return descriptor === undefined ? `the property ${name}` : `the accessor or property ${name}`;
}

/** In the order in which they are written above the method. */
export function contributionsOf(method: object): readonly Contribution[] {
  return (Reflect.getMetadata(contributionsKey, method) as readonly Contribution[] | undefined) ?? [];
}
