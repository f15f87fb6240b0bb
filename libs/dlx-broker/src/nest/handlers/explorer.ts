import { MetadataScanner, type ModulesContainer } from '@nestjs/core';
import { type Contribution, contributionsOf } from '../decorators/contribution.js';
import {
  type InstanceWrapper,
  type Module,
  PATTERN_EXTRAS_METADATA,
  PATTERN_HANDLER_METADATA,
  TRANSPORT_METADATA,
} from './nest-versions.js';

/** A method of a controller or provider with decorators of this library or patterns of Nest. */
export interface DiscoveredMethod {
  readonly module: Module;
  readonly wrapper: InstanceWrapper;
  /** The prototype of its class, also when the class is request-scoped. */
  readonly hostedBy: object;
  readonly methodName: string | symbol;
  /** `OrdersController.created`, or `OrdersController.Symbol(created)` */
  readonly origin: string;
  readonly inController: boolean;
  readonly contributions: readonly Contribution[];
  /**
   * The object made by `@EventPattern` or `@MessagePattern`. Nest gives the same object to the transport, so it identifies the
   * method. Undefined without a pattern.
   */
  readonly patternExtras: object | undefined;
  /** The transport of its pattern; undefined: any. */
  readonly transport: unknown;
}

/** All handlers of an application, in the order in which Nest visits modules, classes and methods. */
export function discoverMethods(modules: ModulesContainer): readonly DiscoveredMethod[] {
  const found: DiscoveredMethod[] = [];
  for (const [module, wrapper, inController] of classesOf(modules)) explore(module, wrapper, inController, found);
  return found;
}

/** A method of a provider or controller, whatever is above it. */
export interface FoundMethod {
  readonly wrapper: InstanceWrapper;
  readonly method: object;
  readonly methodName: string | symbol;
  /** The class and the method: `Alerts.onParked`. */
  origin(): string;
}

/** All methods of controllers and providers. */
export function* methodsOf(modules: ModulesContainer): Iterable<FoundMethod> {
  for (const [, wrapper] of classesOf(modules)) {
    const prototype = prototypeOf(wrapper);
    for (const methodName of methodNames(prototype)) {
      const method = prototype![methodName];
      if (typeof method !== 'function') continue;
      yield { wrapper, method, methodName, origin: () => originOf(prototype!, methodName) };
    }
  }
}

type Prototype = Record<string | symbol, unknown>;

const parentOf = (prototype: Prototype): Prototype | null => Object.getPrototypeOf(prototype) as Prototype | null;

const originOf = (prototype: Prototype, methodName: string | symbol): string =>
  `${(prototype['constructor'] as { readonly name: string }).name}.${String(methodName)}`;

function* classesOf(modules: ModulesContainer): Iterable<readonly [Module, InstanceWrapper, inController: boolean]> {
  for (const module of modules.values()) {
    for (const wrapper of module.controllers.values()) yield [module, wrapper, true];
    for (const wrapper of module.providers.values()) yield [module, wrapper, false];
  }
}

/** The names of all methods, with those of base classes. Nest's scanner ignores symbols. */
function methodNames(prototype: Prototype | undefined): readonly (string | symbol)[] {
  if (prototype === undefined) return [];
  const symbols = new Set<symbol>();
  for (let each: Prototype | null = prototype; each !== null && each !== Object.prototype; each = parentOf(each)) {
    for (const symbol of Object.getOwnPropertySymbols(each)) {
      if (typeof Object.getOwnPropertyDescriptor(each, symbol)?.value === 'function') symbols.add(symbol);
    }
  }
  return [...new MetadataScanner().getAllMethodNames(prototype), ...symbols];
}

function explore(module: Module, wrapper: InstanceWrapper, inController: boolean, found: DiscoveredMethod[]): void {
  const prototype = prototypeOf(wrapper);
  for (const methodName of methodNames(prototype)) {
    const method = prototype![methodName] as object;
    const contributions = contributionsOf(method);
    const isPattern = Reflect.hasMetadata(PATTERN_HANDLER_METADATA, method);
    if (contributions.length === 0 && !isPattern) continue;
    found.push({
      module,
      wrapper,
      hostedBy: prototype!,
      methodName,
      origin: originOf(prototype!, methodName),
      inController,
      contributions,
      patternExtras: isPattern ? (Reflect.getMetadata(PATTERN_EXTRAS_METADATA, method) as object) : undefined,
      transport: isPattern ? Reflect.getMetadata(TRANSPORT_METADATA, method) : undefined,
    });
  }
}

/** The prototype of a provider. Aliases are skipped, because they would find a provider twice. */
function prototypeOf(wrapper: InstanceWrapper): Prototype | undefined {
  if (wrapper.isAlias) return undefined;
  const instance: unknown = wrapper.instance;
  if (typeof instance !== 'object' || instance === null) {
    const type = wrapper.metatype as { prototype?: Prototype } | null;
    return wrapper.isNotMetatype ? undefined : type?.prototype;
  }
  const prototype = Object.getPrototypeOf(instance) as Prototype | null;
  return prototype === null || prototype === Object.prototype ? undefined : prototype;
}
