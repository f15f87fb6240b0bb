import 'reflect-metadata';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import { catchError, Observable, Subscriber, throwError } from 'rxjs';
import { DlxContext } from '../core/context.js';
import { readable } from '../core/failure.js';
import {
  EXCEPTION_FILTERS_METADATA,
  ExecutionContextHost,
  FILTER_CATCH_EXCEPTIONS,
  handleErrorsBefore,
  type PreRequestHook,
  type PreRequestHooks,
  preRequestHooksOf,
  RpcException,
  type RpcExceptionsHandler,
  RpcProxy,
} from './nest-versions.js';

/*
 * Nest's exception filter replaces an error by a plain object before a transport gets it, and logs it. Headers, logs and retry
 * policies need the error itself, so the context notes it on its way to the filter. If no filter of the application is for the
 * error, Nest's default filter is not called: the failure is logged once, when the message is settled.
 */

/** A failure as Nest's default filter would return it. It is a value and no error, because that filter would log an error. */
export class FilteredFailure {
  constructor(readonly failure: unknown) {}
}

/** The value that Nest's default filter returns for an error. */
function byDefault(error: unknown): unknown {
  const thrown = readable(error);
  if (!(thrown instanceof RpcException)) return { status: 'error', message: 'Internal server error' };
  const content: unknown = thrown.getError();
  return typeof content === 'object' && content !== null ? content : { status: 'error', message: content };
}

const captures = Symbol('dlx-broker: captures');

/** True for a hook that {@link captureErrors} registered. */
export const isCaptureHook = (hook: PreRequestHook): boolean => captures in hook;

/**
 * Notes errors of `@EventPattern` and `@MessagePattern` handlers, those of guards included: by a hook of the application, if Nest calls
 * it, or, on Nest 11, before Nest handles them. Several brokers share it: it has no state, and notes errors in the context of the call.
 */
export function captureErrors(config: ApplicationConfig): void {
  const hooks = preRequestHooksOf(config);
  if (hooks === undefined) return handleErrorsBefore(noted);
  if (!hooks.getGlobalPreRequestHooks().some(isCaptureHook)) hooks.registerPreRequestHook(captureHook(config, hooks));
}

function captureHook(config: ApplicationConfig, hooks: PreRequestHooks): PreRequestHook {
  const hook: PreRequestHook = (execution, next) => {
    const context: unknown = execution.getArgByIndex(1);
    if (!(context instanceof DlxContext)) return next();
    context.markHooked();
    return new Captured(next(), context, isRefused, execution);
  };
  /** True if no filter of the application gets the error. A hook around this one has to get the error. */
  const isRefused = (execution: ExecutionContext, error: unknown): boolean =>
    hooks.getGlobalPreRequestHooks()[0] === hook && !mayFilter(config, execution, error);
  return Object.assign(hook, { [captures]: true });
}

type IsRefused = (execution: ExecutionContext, error: unknown) => boolean;

/** The result of a handler, whose error the context of the message notes. RxJS's `catchError` would make several closures for each message. */
class Captured extends Observable<unknown> {
  constructor(
    readonly result: Observable<unknown>,
    readonly context: DlxContext,
    readonly isRefused: IsRefused,
    readonly execution: ExecutionContext,
  ) {
    super(subscribeCapturing);
  }
}

/** RxJS calls it as a method of the observable. */
function subscribeCapturing(this: Observable<unknown>, subscriber: Subscriber<unknown>): void {
  const captured = this as Captured;
  captured.result.subscribe(new Capturing(subscriber, captured));
}

/** Passes the values of a handler, and its error as {@link captureErrors} says. */
class Capturing extends Subscriber<unknown> {
  constructor(
    private readonly subscriber: Subscriber<unknown>,
    private readonly captured: Captured,
  ) {
    super(subscriber); // which unsubscribes this one when it ends
  }

  protected override _error(error: unknown): void {
    const { subscriber } = this;
    const { context, isRefused, execution } = this.captured;
    let failure: FilteredFailure;
    try {
      context.capture(error);
      this.unsubscribe(); // what the handler does at the end of its stream comes before the outcome, and may fail
      if (!isRefused(execution, error)) return subscriber.error(error);
      failure = new FilteredFailure(byDefault(error));
    } catch (failure) {
      return subscriber.error(failure);
    }
    subscriber.next(failure);
    subscriber.complete();
  }
}

/** Notes the error of a message of this library. @returns undefined for an error of anything else */
function noted(
  filters: RpcExceptionsHandler,
  args: readonly unknown[],
  error: unknown,
): Observable<unknown> | undefined {
  const context = args[1];
  if (!(context instanceof DlxContext)) return undefined;
  context.capture(error);
  return filtered(filters, args, error);
}

/** Notes errors of handlers with `@Consume`. It costs nothing unless a handler fails. */
export class CapturingRpcProxy extends RpcProxy {
  override handleError(...[filters, args, error]: Parameters<RpcProxy['handleError']>): Observable<unknown> {
    return noted(filters, args, error) ?? filtered(filters, args, error);
  }
}

/** Notes the error of a handler with `@Consume`. @returns the result of the filters of the application; without one, a value */
export function refusedOr(filters: RpcExceptionsHandler, data: unknown, context: DlxContext, error: unknown): unknown {
  context.capture(error);
  return customFiltered(filters, [data, context], error) ?? new FilteredFailure(byDefault(error));
}

/** The result of the filters of the application, or of Nest's default filter, which is not called because it logs. */
export function filtered(filters: RpcExceptionsHandler, args: readonly unknown[], error: unknown): Observable<unknown> {
  return customFiltered(filters, args, error) ?? throwError(() => byDefault(error));
}

/** @returns undefined if no filter of the application is for the error */
function customFiltered(
  filters: RpcExceptionsHandler,
  args: readonly unknown[],
  error: unknown,
): Observable<unknown> | undefined {
  const host = new ExecutionContextHost([...args]);
  host.setType('rpc');
  return filters.invokeCustomFilters(error, host) ?? undefined;
}

/**
 * For applications in which the hook is not reached (`connectMicroservice` without `inheritAppConfig`): apply it by
 * `@UseInterceptors(CaptureErrors)`. It sees what handlers, pipes and inner interceptors throw, but no guards.
 */
export class CaptureErrors implements NestInterceptor {
  intercept(execution: ExecutionContext, next: CallHandler): Observable<unknown> {
    const context: unknown = execution.getArgByIndex(1);
    if (!(context instanceof DlxContext) || context.hooked) return next.handle();
    const noting = (error: unknown): Observable<never> => {
      context.capture(error);
      return throwError(() => error);
    };
    return next.handle().pipe(catchError(noting));
  }
}

/** A filter as Nest keeps it: a class, an instance, or a wrapper of a request-scoped class. */
interface Wrapper {
  readonly metatype?: unknown;
}

/**
 * True if a filter of the application, of the class or of the method may be for this error. The filters themselves decide.
 */
function mayFilter(config: ApplicationConfig, execution: ExecutionContext, error: unknown): boolean {
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
