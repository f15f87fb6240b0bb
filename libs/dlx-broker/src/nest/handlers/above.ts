import 'reflect-metadata';
import type { ForwardReference, InjectionToken } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { DlxConfigurationError, optionsOf, refused, shown } from '../../platform/options/index.js';
import { asyncKey, asyncOf, type HandlerAsyncOptions } from '../decorators/handler-async.js';
import { type FoundMethod, methodsOf } from './explorer.js';
import type { InstanceWrapper, Module } from './nest-versions.js';

const remedy = 'write { inject: [ConfigService], useFactory: (config) => [Consume(config.getOrThrow("QUEUE"))] }';

/**
 * What is above the methods of an application: the decorators that are written there, and those that the functions of `@HandlerAsync`
 * return. The latter decorate a method of no class, because several applications of a process may share a class.
 */
export class Above {
  readonly #returned: ReadonlyMap<InstanceWrapper, ReadonlyMap<object, object>> | undefined;

  /** @param returned by class and method: the method that stands in for it; undefined before the functions were called */
  private constructor(
    readonly methods: readonly FoundMethod[],
    returned?: ReadonlyMap<InstanceWrapper, ReadonlyMap<object, object>>,
  ) {
    this.#returned = returned;
  }

  /** Before the start: methods with `@HandlerAsync` cannot be read yet. */
  static early(modules: ModulesContainer): Above {
    return new Above([...methodsOf(modules)]);
  }

  /**
   * Calls the functions, one after the other; once for an application, however many brokers it has.
   * @param waits called for a function that has not ended after 10 seconds
   * @throws DlxConfigurationError naming the handler
   */
  static of(modules: ModulesContainer, waits: (origin: string) => void): Promise<Above> {
    const known = ofApplications.get(modules) ?? Above.#read([...methodsOf(modules)], waits);
    ofApplications.set(modules, known);
    return known;
  }

  static async #read(methods: readonly FoundMethod[], waits: (origin: string) => void): Promise<Above> {
    const returned = new Map<InstanceWrapper, Map<object, object>>();
    for (const found of methods) {
      for (const { options } of asyncOf(found.method)) {
        const ofClass = returned.get(found.wrapper) ?? new Map<object, object>();
        returned.set(found.wrapper, ofClass);
        const standIn = ofClass.get(found.method) ?? { method(): void {} }.method;
        ofClass.set(found.method, standIn);
        const timer = setTimeout(() => waits(found.origin), patience);
        await decorate(standIn, options, found).finally(() => clearTimeout(timer));
      }
    }
    return new Above(methods, returned);
  }

  /** @param entriesOf reads the entries of one kind from a method @throws DlxConfigurationError before the start */
  read<Entry>(
    entriesOf: (method: object) => readonly Entry[],
    { wrapper, method, origin }: FoundMethod,
  ): readonly Entry[] {
    const own = entriesOf(method);
    if (this.#returned === undefined && asyncOf(method).length > 0) {
      const why = 'its decorators are known when the application starts; call await app.init() before';
      throw new DlxConfigurationError(`@HandlerAsync on ${origin}: ${why}`);
    }
    const standIn = this.#returned?.get(wrapper)?.get(method);
    return standIn === undefined ? own : [...own, ...entriesOf(standIn)];
  }
}

/** After this time in milliseconds a function that the start waits for is logged. */
const patience = 10_000;

const ofApplications = new WeakMap<ModulesContainer, Promise<Above>>();

/** Calls the function of a `@HandlerAsync`, and applies what it returns. */
async function decorate(standIn: object, options: HandlerAsyncOptions, found: FoundMethod): Promise<void> {
  const origin = `@HandlerAsync on ${found.origin}`;
  const given = optionsOf<HandlerAsyncOptions>(options, origin, remedy, ['inject', 'useFactory']);
  const { inject = [], useFactory } = given;
  if (!Array.isArray(inject)) throw refused(inject, `inject of ${origin}`, `is no list of providers; ${remedy}`);
  if (typeof useFactory !== 'function')
    throw refused(useFactory, `useFactory of ${origin}`, `is not a function; ${remedy}`);
  const injected = inject.map((dependency) => instanceOf(dependency, found, origin));
  let returned: unknown;
  try {
    returned = await useFactory(...injected);
  } catch (error) {
    const why = error instanceof Error ? `${error.name}: ${error.message}` : shown(error);
    throw new DlxConfigurationError(
      `useFactory of ${origin} failed: ${why}; mend it, or the configuration that it reads`,
      { cause: error },
    );
  }
  if (!Array.isArray(returned)) {
    throw refused(
      returned,
      `useFactory of ${origin}`,
      'was returned, and is no list of decorators; return [Consume(...)]',
    );
  }
  const { prototype } = class {};
  // As TypeScript does: the lowest decorator first.
  for (const decorator of (returned as readonly unknown[]).toReversed()) {
    const descriptor = { value: standIn };
    const isDecorator = typeof decorator === 'function';
    const result: unknown = isDecorator ? (decorator as MethodDecorator)(prototype, 'method', descriptor) : decorator;
    if (isDecorator && (result === undefined || result === descriptor) && descriptor.value === standIn) continue;
    throw refused(
      decorator,
      `useFactory of ${origin}`,
      'was returned, and is no decorator of this library; call it: Consume(...)',
    );
  }
  const foreign = [...Reflect.getMetadataKeys(standIn), ...Reflect.getMetadataKeys(prototype, 'method')].filter(
    (key) => key === asyncKey || !String(key).startsWith('dlx-broker:'),
  );
  if (foreign.length === 0) return;
  throw new DlxConfigurationError(
    `useFactory of ${origin} returned a decorator that has no effect there (its metadata: '${foreign.join("', '")}'): ` +
      'write it above the method; in place of @EventPattern and @MessagePattern return Consume({ queue, routingKey })',
  );
}

/** The instance of a provider, as Nest finds it for a class of the same module. */
function instanceOf(dependency: unknown, { module }: FoundMethod, origin: string): unknown {
  const { optional = false, token: optionalToken = dependency } = (
    typeof dependency === 'object' && dependency !== null ? dependency : {}
  ) as { readonly optional?: boolean; readonly token?: unknown };
  const token = ((optionalToken as Partial<ForwardReference> | undefined)?.forwardRef?.() ??
    optionalToken) as InjectionToken;
  const name = typeof token === 'function' ? token.name : String(token);
  const wrapper = module.providers.get(token) ?? exportedBy([...module.imports], token);
  if (wrapper === undefined && optional) return undefined;
  if (wrapper === undefined) {
    const remedy = 'import the module that exports it there, or list it among the providers';
    throw new DlxConfigurationError(`inject of ${origin}: ${module.name} has no provider ${name}; ${remedy}`);
  }
  if (wrapper.isDependencyTreeStatic() && !wrapper.isTransient) return wrapper.instance;
  throw new DlxConfigurationError(
    `inject of ${origin}: ${name} has an instance for each request or consumer, and there is none at the start; inject a singleton`,
  );
}

/** Finds what modules export, and what those modules export that they export again. */
function exportedBy(
  modules: readonly Module[],
  token: InjectionToken,
  seen: Set<Module> = new Set(),
): InstanceWrapper | undefined {
  for (const module of modules) {
    if (seen.has(module)) continue;
    seen.add(module);
    const own = module.exports.has(token) ? module.providers.get(token) : undefined;
    const again = [...module.imports].filter(({ metatype }) => module.exports.has(metatype));
    const found = own ?? exportedBy(again, token, seen);
    if (found !== undefined) return found;
  }
  return undefined;
}
