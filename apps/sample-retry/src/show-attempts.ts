import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { DlxContext } from 'dlx-broker';
import { tap, type Observable } from 'rxjs';
import { BankAway, type Payment } from './bank.js';
import { Timeline } from './timeline.js';

/** A Nest interceptor that writes how each attempt of a handler ended. */
@Injectable()
export class ShowAttempts implements NestInterceptor {
  constructor(private readonly timeline: Timeline) {}

  intercept(execution: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { id, amount, currency } = execution.switchToRpc().getData<Payment>();
    const context = execution.switchToRpc().getContext<DlxContext>();
    const say = (what: string): void => this.timeline.say(id, context.attempt, `${what}${historyOf(context)}`);
    return next.handle().pipe(
      tap({
        complete: () => say(`paid ${amount} ${currency}`),
        error: (error: Error) => say(`${error.constructor.name}: ${error.message}; ${whatNext(error, context)}`),
      }),
    );
  }
}

function whatNext(error: Error, { attempt, attempts = 1 }: DlxContext): string {
  if (error instanceof BankAway) return 'held until it is back';
  return attempt < attempts ? `again in ${500 * 2 ** (attempt - 1)} ms` : 'that was the last attempt';
}

/** Where the message died before this attempt, why and how often, the latest death first. */
function historyOf({ deaths }: DlxContext): string {
  const history = deaths.map(({ queue, reason, count }) => `${queue} ${reason} ${count}`);
  return history.length === 0 ? '' : `  [${history.join(', ')}]`;
}
