import { AsyncResource } from 'node:async_hooks';
import type { DeliveryTimers } from '../../core/delivery-timers.js';
import { HandlerTimeoutError } from '../../core/failure.js';
import type { Feature } from '../../core/feature.js';
import { failedBy, type Step } from '../../core/handler.js';

/** The time limit of an attempt: `timeout` of its retry policy. */
export const timeout = (timers: DeliveryTimers): Feature => ({
  name: 'timeout',
  step: ({ retry }) => (retry?.timeout === undefined ? undefined : limit(retry.timeout, timers)),
});

const limit =
  (milliseconds: number, timers: DeliveryTimers): Step =>
  async (attempt, next) => {
    const { context, planned } = attempt;
    const tooLate = (): void => {
      const failure = new HandlerTimeoutError(planned.handler.origin, milliseconds);
      const outcome = failedBy(failure, context);
      context.abort(failure);
      attempt.end(outcome);
    };
    // Listeners of the abort run in the async context of the attempt, and not in that of the timer.
    const cancel = timers.after(milliseconds, () => context.isSettled, AsyncResource.bind(tooLate));
    const outcome = await next();
    cancel();
    return outcome;
  };
