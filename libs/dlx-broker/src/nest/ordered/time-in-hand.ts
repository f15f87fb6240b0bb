import { DlxConfigurationError } from '../../options/index.js';
import type { RetryPlan } from '../../retry/index.js';
import { type Backend, serverOf } from '../../backend/index.js';

/** Servers take a message back after 30 minutes in hand (rule Q8). This is the most that attempts may take, in milliseconds. */
export const mostInHand = 1_500_000;

/** The argument by which a queue has another time limit, on RabbitMQ 3.12 or later. */
export const timeoutArgument = 'x-consumer-timeout';

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

/**
 * The longest time that the attempts of a message may take, with their waits and time limits, in milliseconds.
 * @throws DlxConfigurationError when a server would take the message back before its last attempt
 */
export function timeInHand({ retry, holdAtMost, consumerTimeout, origin }: HoldPlan): number {
  const most = consumerTimeout === undefined ? mostInHand : Math.floor((consumerTimeout / 6) * 5);
  const limits =
    consumerTimeout === undefined
      ? 'a server takes it back after 30 minutes'
      : `${timeoutArgument} is ${consumerTimeout}`;
  const refuse = (why: string, remedy: string): never => {
    throw new DlxConfigurationError(
      `${origin}: ${why}, and ${limits}; ${remedy}, to stay below ${most} ms, or set @QueueArguments({ '${timeoutArgument}': ... }) ` +
        'on RabbitMQ 3.12 or later',
    );
  };
  if (holdAtMost > most) refuse(`holdAtMost is ${holdAtMost} ms`, 'lower it');
  if (retry === undefined) return holdAtMost;
  let time = retry.attempts * (retry.timeout ?? 0);
  for (let attempt = retry.attempts; attempt > 1 && time <= most; attempt--) {
    const wait = retry.longestBefore(attempt) ?? holdAtMost;
    if (wait === 0) break; // the immediate retries are the first ones
    if (wait > holdAtMost) {
      throw new DlxConfigurationError(
        `${origin}: its retry policy waits ${wait} ms before attempt ${attempt}, longer than holdAtMost (${holdAtMost} ms); ` +
          "lower the waits, such as backoff: { type: 'exponential', delay: '1s', max: '1m' }, or raise holdAtMost",
      );
    }
    time += wait;
  }
  if (time > most) {
    refuse(
      `the ${retry.attempts} attempts of a message, with their waits and timeout, may keep it in hand for ${time} ms or more`,
      'lower attempts, backoff or timeout',
    );
  }
  return time;
}

/**
 * Refuses a time in hand for which only `x-consumer-timeout` leaves room, on a server that does not know the argument.
 * @throws DlxConfigurationError
 */
export function refuseUnknownTimeout(
  { timeInHand: time, handler }: { readonly timeInHand: number; readonly handler: string },
  { state }: Pick<Backend, 'state'>,
): void {
  if (time <= mostInHand || (state.kind !== 'ready' && state.kind !== 'blocked')) return;
  const { product, version } = state.server;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (product === 'RabbitMQ' && (major > 3 || (major === 3 && minor >= 12))) return;
  throw new DlxConfigurationError(
    `@Ordered on ${handler}: ${serverOf(state)} does not know the argument ${timeoutArgument} and takes a message back after 30 minutes, but one ` +
      `may be in hand for ${time} ms; lower the waits of its retry policy, or use RabbitMQ 3.12 or later`,
  );
}
