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
 * Nest's exception filter replaces an error by a plain object before a transport sees it, and logs it. To tell an
 * operator, or a retry policy, what really failed, the error is noted in the context on its way to the filter. Where no
 * filter of the application is for it, Nest's default one is spared: the failure is logged once, where the message is
 * settled and it is known what becomes of it.
 */

/** A failure as Nest's default filter would tell it, handed over as a value, for that filter sees all errors. */
export class Refusal {
  constructor(readonly failure: unknown) {}
}

/** What Nest's default filter makes of an error. */
function byDefault(error: unknown): unknown {
  const told = readable(error);
  if (!(told instanceof RpcException)) return { status: 'error', message: 'Internal server error' };
  const content: unknown = told.getError();
  return typeof content === 'object' && content !== null ? content : { status: 'error', message: content };
}

const hooks = Symbol('dlx-broker: captures');

/** Whether it was made by {@link captureHook}. */
export const isCaptureHook = (hook: PreRequestHook): boolean => hooks in hook;

/** For `@EventPattern` and `@MessagePattern`: sees everything, guards included, where Nest lets it in. */
export function captureHook(config: ApplicationConfig): PreRequestHook {
  const hook: PreRequestHook = (execution, next) => {
    const context: unknown = execution.getArgByIndex(1);
    if (!(context instanceof DlxContext)) return next();
    context.markHooked();
    const caught = (error: unknown): Observable<unknown> => {
      context.capture(error);
      // A hook around this one has to see the error.
      const isOutermost = config.getGlobalPreRequestHooks()[0] === hook;
      return isOutermost && !mayFilter(config, execution, error)
        ? of(new Refusal(byDefault(error)))
        : throwError(() => error);
    };
    return next().pipe(catchError(caught));
  };
  return Object.assign(hook, { [hooks]: true });
}

/** For handlers of our own binding: sees everything, and costs nothing until something fails. */
export class CapturingRpcProxy extends RpcProxy {
  override handleError(...[filters, args, error]: Parameters<RpcProxy['handleError']>): Observable<unknown> {
    if (args[1] instanceof DlxContext) args[1].capture(error);
    return filtered(filters, args, error);
  }
}

/** By the filters of the application, or else as Nest's default filter would, which logs. */
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
