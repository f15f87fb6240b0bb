import type { CallHandler, ExecutionContext, NestInterceptor, PreRequestHook } from '@nestjs/common';
import { RpcProxy } from '@nestjs/microservices/context/rpc-proxy.js';
import { catchError, throwError, type Observable } from 'rxjs';
import { DlxContext } from './context.js';

/*
 * Nest's exception filter replaces an error by a plain object before a transport sees it. To tell an operator, or a
 * retry policy, what really failed, the error is noted in the context on its way to the filter.
 */

/** For `@EventPattern` and `@MessagePattern`: sees everything, guards included, where Nest lets it in. */
export const captureHook: PreRequestHook = (execution, next) => {
  const context: unknown = execution.getArgByIndex(1);
  if (!(context instanceof DlxContext)) return next();
  context.markHooked();
  return next().pipe(noting(context));
};

/** For handlers of our own binding: sees everything, and costs nothing until something fails. */
export class CapturingRpcProxy extends RpcProxy {
  override handleError(...[handler, args, error, report]: Parameters<RpcProxy['handleError']>): Observable<unknown> {
    if (args[1] instanceof DlxContext) args[1].capture(error);
    return super.handleError(handler, args, error, report);
  }
}

/**
 * For applications in which the hook is not reached (`connectMicroservice` without `inheritAppConfig`): apply it by
 * `@UseInterceptors(CaptureErrors)`. It sees what handlers, pipes and inner interceptors throw, but no guards.
 */
export class CaptureErrors implements NestInterceptor {
  intercept(execution: ExecutionContext, next: CallHandler): Observable<unknown> {
    const context: unknown = execution.getArgByIndex(1);
    return context instanceof DlxContext && !context.hooked ? next.handle().pipe(noting(context)) : next.handle();
  }
}

const noting = (context: DlxContext) =>
  catchError<unknown, Observable<never>>((error) => {
    context.capture(error);
    return throwError(() => error);
  });
