import { MetadataScanner, type ModulesContainer } from '@nestjs/core';
import type { Contribution } from '../decorators/contribution.js';
import {
  type InstanceWrapper,
  type Module,
  PATTERN_EXTRAS_METADATA,
  PATTERN_HANDLER_METADATA,
  TRANSPORT_METADATA,
} from './nest-versions.js';

/** A method of a controller or provider, whatever is above it. */
export interface FoundMethod {
  readonly module: Module;
  readonly wrapper: InstanceWrapper;
  /** The prototype of its class, also when the class is request-scoped. */
  readonly hostedBy: object;
  readonly method: object;
  readonly methodName: string | symbol;
  /** `OrdersController.created`, or `OrdersController.Symbol(created)` */
  readonly origin: string;
  readonly inController: boolean;
}

/** A method with decorators of this library or patterns of Nest. */
export interface DiscoveredMethod extends FoundMethod {
  readonly contributions: readonly Contribution[];
  /**
   * The object made by `@EventPattern` or `@MessagePattern`. Nest gives the same object to the transport, so it identifies the
   * method. Undefined without a pattern.
   */
  readonly patternExtras: object | undefined;
  /** The transport of its pattern; undefined: any. */
  readonly transport: unknown;
}

/** All methods of controllers and providers, in the order in which Nest visits modules, classes and methods. */
export function* methodsOf(modules: ModulesContainer): Iterable<FoundMethod> {
  for (const [module, wrapper, inController] of classesOf(modules)) {
    const hostedBy = prototypeOf(wrapper);
    for (const methodName of methodNames(hostedBy)) {
      const method = hostedBy![methodName];
      if (typeof method !== 'function') continue;
      yield {
        module,
        wrapper,
        hostedBy: hostedBy!,
        method,
        methodName,
        origin: originOf(hostedBy!, methodName),
        inController,
      };
    }
  }
}

/** The handlers among methods. @param contributions reads what is above a method */
export function* handlersAmong(
  methods: readonly FoundMethod[],
  contributionsTo: (method: FoundMethod) => readonly Contribution[],
): Iterable<DiscoveredMethod> {
  for (const found of methods) {
    const { method } = found;
    const contributions = contributionsTo(found);
    const isPattern = Reflect.hasMetadata(PATTERN_HANDLER_METADATA, method);
    if (contributions.length === 0 && !isPattern) continue;
    yield {
      ...found,
      contributions,
      patternExtras: isPattern ? (Reflect.getMetadata(PATTERN_EXTRAS_METADATA, method) as object) : undefined,
      transport: isPattern ? Reflect.getMetadata(TRANSPORT_METADATA, method) : undefined,
    };
  }
}

type Prototype = Record<string | symbol, unknown>;

const parentOf = (prototype: Prototype): Prototype | null => Object.getPrototypeOf(prototype) as Prototype | null;

const originOf = (prototype: Prototype, methodName: string | symbol): string =>
  `${(prototype['constructor'] as { readonly name?: string } | undefined)?.name}.${String(methodName)}`;

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
