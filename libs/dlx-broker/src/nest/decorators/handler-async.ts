import type { FactoryProvider } from '@nestjs/common';
import { noting, readEntries, refuseBare } from './contribution.js';

/** A decorator of a method, such as `Retry(...)` or `On(contract)` returns. */
type Decorator = (target: object, key: string | symbol, descriptor: TypedPropertyDescriptor<never>) => unknown;

/** Where {@link HandlerAsync} gets its decorators. */
export interface HandlerAsyncOptions {
  /** What `useFactory` gets: tokens of providers that the module of the handler may inject, none of them request-scoped. */
  readonly inject?: FactoryProvider['inject'];
  /**
   * Returns decorators of this library, such as `[Consume(config.get('QUEUE')), Prefetch(20)]`, or a promise of them. Called when the
   * application starts, before hooks `onModuleInit`.
   */
  // eslint-disable-next-line typescript/no-explicit-any -- the user chooses what is injected
  readonly useFactory: (...injected: any[]) => readonly Decorator[] | Promise<readonly Decorator[]>;
}

/** The key of its metadata. */
export const asyncKey = 'dlx-broker:handler-async';

/**
 * Decorates a method when the application starts, with what a function returns: queue names, keys and options from the configuration. The
 * decorators have the effect that they have above the method, beside those that are there.
 * @throws DlxConfigurationError at once without parentheses, and above anything but a method of an instance; at the start for a provider
 * that the module cannot inject, and for a function that fails or returns anything else
 */
export function HandlerAsync(options: HandlerAsyncOptions): MethodDecorator {
  refuseBare('HandlerAsync', [options]);
  return noting('HandlerAsync', asyncKey, { options });
}

/** The options of the decorators above a method. */
export const asyncOf = (method: object): readonly { readonly options: HandlerAsyncOptions }[] =>
  readEntries(asyncKey, method);
