import { type Backend, serverOf } from '../../../backends/index.js';
import { DlxConfigurationError } from '../../../platform/options/index.js';
import { timeoutArgument, usualTimeout } from '../../core/consumer-timeout.js';
import type { RetryPlan } from '../../retry/index.js';

/** What the time in hand is calculated from. */
export interface HoldPlan {
  readonly retry: RetryPlan | undefined;
  /** Milliseconds. */
  readonly holdAtMost: number;
  /** The value of `x-consumer-timeout`, in milliseconds; undefined without it. */
  readonly consumerTimeout: number | undefined;
  /** `@Ordered on Orders.created` */
  readonly origin: string;
}

/** How long a handler may keep a message in hand. */
export interface TimeInHand extends HoldPlan {
  /** The longest time that the attempts of a message may take, with their waits and time limits, in milliseconds. */
  readonly time: number;
}

/** So many waits are added up, from the longest; the others count as the last of these. */
const mostAdded = 1_000_000;

/** @throws DlxConfigurationError when the policy waits for longer than `holdAtMost` */
export function timeInHand(plan: HoldPlan): TimeInHand {
  const { retry, holdAtMost, origin } = plan;
  if (retry === undefined) return { ...plan, time: holdAtMost };
  let time = retry.attempts * (retry.timeout ?? 0);
  for (let attempt = retry.attempts; attempt > 1; attempt--) {
    const wait = retry.longestBefore(attempt) ?? holdAtMost;
    if (wait === 0) break; // the immediate retries are the first ones
    if (wait > holdAtMost) {
      throw new DlxConfigurationError(
        `${origin}: its retry policy waits ${wait} ms before attempt ${attempt}, longer than holdAtMost (${holdAtMost} ms); ` +
          "lower the waits, such as backoff: { type: 'exponential', delay: '1s', max: '1m' }, or raise holdAtMost",
      );
    }
    time += wait;
    if (retry.attempts - attempt < mostAdded) continue;
    time += wait * (attempt - 2);
    break;
  }
  return { ...plan, time };
}

/**
 * Refuses a time in hand after which the server would take the message back before its last attempt.
 * @throws DlxConfigurationError
 */
export function refuseTooLong(inHand: TimeInHand, backend: Pick<Backend, 'state' | 'consumerTimeout'>): void {
  const { limit, byQueue } = backend.consumerTimeout ?? usualTimeout;
  const own = byQueue ? inHand.consumerTimeout : undefined;
  const most = Math.floor(((own ?? limit) / 6) * 5);
  const { holdAtMost, time, origin, retry } = inHand;
  if (holdAtMost <= most && time <= most) return;
  if (!byQueue && inHand.consumerTimeout !== undefined) {
    throw new DlxConfigurationError(
      `${origin}: ${serverOf(backend.state)} does not know the argument ${timeoutArgument} and takes a message back after ${shown(limit)}, but ` +
        `one may be in hand for ${Math.max(holdAtMost, time)} ms; lower the waits of its retry policy, raise the consumer timeout of the broker (option 'consumerTimeout'), or ` +
        'use RabbitMQ 3.12 or later',
    );
  }
  const limits =
    own === undefined ? `a server takes a message back after ${shown(limit)}` : `${timeoutArgument} is ${own}`;
  const [why, remedy] =
    holdAtMost > most
      ? [`holdAtMost is ${holdAtMost} ms`, 'lower it']
      : [
          `the ${retry?.attempts} attempts of a message, with their waits and timeout, may keep it in hand for ${time} ms or more`,
          'lower attempts, backoff or timeout',
        ];
  throw new DlxConfigurationError(
    `${origin}: ${why}, and ${limits}; ${remedy}, to stay below ${most} ms, raise the consumer timeout of the broker (option 'consumerTimeout'), or set ` +
      `@QueueArguments({ '${timeoutArgument}': ... }) on RabbitMQ 3.12 or later, since 4.3 with @Quorum()`,
  );
}

const shown = (limit: number): string => (limit === usualTimeout.limit ? '30 minutes' : `${limit} ms`);

/** How a queue keeps the order of its messages. */
export interface QueueOrdering {
  /** Class and method of the first handler, for the log. */
  readonly handler: string;
  /** The most messages in hand. */
  readonly window: number;
  /** The most handlers at work. */
  readonly atWork: number;
  /** The longest wait before another attempt, in milliseconds. */
  readonly holdAtMost: number;
  /** How long each handler may keep a message in hand. */
  readonly timesInHand: readonly TimeInHand[];
}
