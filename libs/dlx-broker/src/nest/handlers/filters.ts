import type { ExecutionContext } from '@nestjs/common';
import { EXCEPTION_FILTERS_METADATA, FILTER_CATCH_EXCEPTIONS } from './nest-versions.js';
import type { ApplicationConfig } from '@nestjs/core';

/** A filter as Nest keeps it: a class, an instance, or a wrapper of a request-scoped class. */
interface Wrapper {
  readonly metatype?: unknown;
}

/**
 * True if a filter of the application, of the class or of the method may be for this error. The filters themselves decide.
 */
export function mayFilter(config: ApplicationConfig, execution: ExecutionContext, error: unknown): boolean {
  const local = [execution.getHandler(), execution.getClass()].flatMap(
    (decorated) => (Reflect.getMetadata(EXCEPTION_FILTERS_METADATA, decorated) ?? []) as readonly unknown[],
  );
  const scoped = (config.getGlobalRequestFilters() as readonly Wrapper[]).map(({ metatype }) => metatype);
  try {
    return [...local, ...config.getGlobalFilters(), ...scoped].some((filter) => isFor(filter, error));
  } catch {
    return false; // the class of the error cannot be read, so no filter is for it
  }
}

/** Compares the error with the classes in `@Catch()`. An empty `@Catch()` is for every error. */
function isFor(filter: unknown, error: unknown): boolean {
  const types = typesOf(filter);
  return types.length === 0 || types.some((type) => typeof type === 'function' && error instanceof type);
}

function typesOf(filter: unknown): readonly unknown[] {
  const type: unknown = typeof filter === 'function' ? filter : (filter as object | null)?.constructor;
  if (typeof type !== 'function') return [];
  return (Reflect.getMetadata(FILTER_CATCH_EXCEPTIONS, type) ??
    Reflect.getMetadata(FILTER_CATCH_EXCEPTIONS, type.prototype as object) ??
    []) as readonly unknown[];
}
