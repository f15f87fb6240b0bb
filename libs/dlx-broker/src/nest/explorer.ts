import type { ModulesContainer } from '@nestjs/core';
import { MetadataScanner } from '@nestjs/core';
import type { InstanceWrapper, Module } from '@nestjs/core/internal';
import {
  PATTERN_EXTRAS_METADATA,
  PATTERN_HANDLER_METADATA,
  TRANSPORT_METADATA,
} from '@nestjs/microservices/constants.js';
import { contributionsOf, type Contribution } from './decorators/contribution.js';

/** A method of a controller or provider that our decorators, or Nest's patterns, stand above. */
export interface DiscoveredMethod {
  readonly module: Module;
  readonly wrapper: InstanceWrapper;
  /** Of the class, also when it is request-scoped. */
  readonly hostedBy: object;
  readonly methodName: string;
  /** `OrdersController.created` */
  readonly origin: string;
  readonly inController: boolean;
  readonly contributions: readonly Contribution[];
  /**
   * The object made by `@EventPattern` or `@MessagePattern`, which Nest hands to the transport as it is: that is how a
   * handler's method is recognised. Undefined without a pattern.
   */
  readonly patternExtras: object | undefined;
  /** The transport its pattern names; undefined: any. */
  readonly transport: unknown;
}

/** All handlers of an application, in the order in which Nest visits modules, classes and methods. */
export function discoverMethods(modules: ModulesContainer): readonly DiscoveredMethod[] {
  const scanner = new MetadataScanner();
  const found: DiscoveredMethod[] = [];
  for (const module of modules.values()) {
    for (const wrapper of module.controllers.values()) explore(module, wrapper, true, scanner, found);
    for (const wrapper of module.providers.values()) explore(module, wrapper, false, scanner, found);
  }
  return found;
}

function explore(
  module: Module,
  wrapper: InstanceWrapper,
  inController: boolean,
  scanner: MetadataScanner,
  found: DiscoveredMethod[],
): void {
  const prototype = prototypeOf(wrapper);
  if (prototype === undefined) return;
  for (const methodName of scanner.getAllMethodNames(prototype)) {
    const method = prototype[methodName] as object;
    const contributions = contributionsOf(method);
    const isPattern = Reflect.hasMetadata(PATTERN_HANDLER_METADATA, method);
    if (contributions.length === 0 && !isPattern) continue;
    found.push({
      module,
      wrapper,
      hostedBy: prototype,
      methodName,
      origin: `${(prototype.constructor as { name: string }).name}.${methodName}`,
      inController,
      contributions,
      patternExtras: isPattern ? (Reflect.getMetadata(PATTERN_EXTRAS_METADATA, method) as object) : undefined,
      transport: isPattern ? Reflect.getMetadata(TRANSPORT_METADATA, method) : undefined,
    });
  }
}

/** Aliases are skipped, or a provider would be found twice; a value or factory provider counts by what it made. */
function prototypeOf(wrapper: InstanceWrapper): Record<string, unknown> | undefined {
  if (wrapper.isAlias) return undefined;
  const instance: unknown = wrapper.instance;
  if (typeof instance !== 'object' || instance === null) {
    const type = wrapper.metatype as { prototype?: Record<string, unknown> } | null;
    return wrapper.isNotMetatype ? undefined : type?.prototype;
  }
  const prototype = Object.getPrototypeOf(instance) as Record<string, unknown> | null;
  return prototype === null || prototype === Object.prototype ? undefined : prototype;
}
