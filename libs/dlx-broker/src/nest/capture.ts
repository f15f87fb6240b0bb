import 'reflect-metadata';
import type { CallHandler, ExecutionContext, NestInterceptor, PreRequestHook } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/internal';
import { RpcProxy } from '@nestjs/microservices/context/rpc-proxy.js';
import { RpcException } from '@nestjs/microservices/exceptions/rpc-exception.js';
import type { RpcExceptionsHandler } from '@nestjs/microservices/exceptions/rpc-exceptions-handler.js';
import { catchError, of, throwError, type Observable } from 'rxjs';
import { DlxContext } from './context.js';
import { readable } from './failure.js';
import { mayFilter } from './filters.js';

/*
 * Nest's exception filter replaces an error by a plain object before a transport gets it, and logs it. Headers, logs and retry
 * policies need the error itself, so the context notes it on its way to the filter. If no filter of the application is for the
 * error, Nest's default filter is not called: the failure is logged once, when the message is settled.
 */

/** A failure as Nest's default filter would return it. It is a value and no error, because that filter would log an error. */
export class Refusal {
  constructor(readonly failure: unknown) {}
}

/** The value that Nest's default filter returns for an error. */
function byDefault(error: unknown): unknown {
  const thrown = readable(error);
  if (!(thrown instanceof RpcException)) return { status: 'error', message: 'Internal server error' };
  const content: unknown = thrown.getError();
  return typeof content === 'object' && content !== null ? content : { status: 'error', message: content };
}

const hooks = Symbol('dlx-broker: captures');

/** True for a hook that {@link captureHook} made. */
export const isCaptureHook = (hook: PreRequestHook): boolean => hooks in hook;

/** Notes errors of `@EventPattern` and `@MessagePattern` handlers, those of guards included, if Nest calls the hook. */
export function captureHook(config: ApplicationConfig): PreRequestHook {
  const hook: PreRequestHook = (execution, next) => {
    const context: unknown = execution.getArgByIndex(1);
    if (!(context instanceof DlxContext)) return next();
    context.markHooked();
    const caught = (error: unknown): Observable<unknown> => {
      context.capture(error);
      // A hook around this one has to get the error.
      const isOutermost = config.getGlobalPreRequestHooks()[0] === hook;
      return isOutermost && !mayFilter(config, execution, error)
        ? of(new Refusal(byDefault(error)))
        : throwError(() => error);
    };
    return next().pipe(catchError(caught));
  };
  return Object.assign(hook, { [hooks]: true });
}

/** Notes errors of handlers with `@Consume`. It costs nothing unless a handler fails. */
export class CapturingRpcProxy extends RpcProxy {
  override handleError(...[filters, args, error]: Parameters<RpcProxy['handleError']>): Observable<unknown> {
    if (args[1] instanceof DlxContext) args[1].capture(error);
    return filtered(filters, args, error);
  }
}

/** The result of the filters of the application, or of Nest's default filter, which is not called because it logs. */
export function filtered(filters: RpcExceptionsHandler, args: readonly unknown[], error: unknown): Observable<unknown> {
  const host = new ExecutionContextHost([...args]);
  host.setType('rpc');
  return filters.invokeCustomFilters(error, host) ?? throwError(() => byDefault(error));
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
