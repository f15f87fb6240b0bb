import {
  errorHeaders,
  historyHeaders,
  type LeftOutOfHistory,
  retryHeaders,
  traceHeaders,
} from '../../platform/history/index.js';
import { type BackendDelivery, type Publication, ServerError } from '../../backends/index.js';

/** What was left out of the headers of a successor: with it they would be larger than a frame of the server. */
export type LeftOut =
  | LeftOutOfHistory
  | 'the texts of its error and its deaths'
  | 'its error and its origin'
  | 'all headers about its attempts';

interface Shorter {
  readonly leftOut: LeftOut;
  readonly names: readonly string[];
}

const texts: Shorter = {
  leftOut: 'the texts of its error and its deaths',
  names: [
    errorHeaders.stack,
    errorHeaders.message,
    errorHeaders.policy,
    ...Object.values(historyHeaders),
    retryHeaders.deaths,
  ],
};
const origin: Shorter = {
  leftOut: 'its error and its origin',
  names: [
    ...texts.names,
    errorHeaders.class,
    retryHeaders.firstExchange,
    retryHeaders.firstRoutingKey,
    retryHeaders.fingerprint,
  ],
};
/** Nothing is left to be counted, so this is for a message that is handled no more. */
const everything: Shorter = {
  leftOut: 'all headers about its attempts',
  names: [
    ...Object.values(errorHeaders),
    ...Object.values(historyHeaders),
    ...Object.values(retryHeaders),
    traceHeaders.attempt,
  ],
};

/** A message that is retried keeps the number of its attempt. */
export const forRetry: readonly Shorter[] = [texts, origin];
export const forParking: readonly Shorter[] = [texts, origin, everything];

/** True for a message that was not sent, because it cannot be encoded: its headers may be larger than a frame of the server. */
export const isUnsendable = (failure: Error | undefined): boolean =>
  failure instanceof ServerError && failure.code === 0;

/**
 * Replaces a delivery by its successor. If the successor cannot be sent, it goes with fewer headers of ours: with all of them a message
 * whose own headers nearly fill a frame could neither be retried nor parked.
 */
export function replaceShortened(
  delivery: Pick<BackendDelivery, 'replaceBy' | 'settled'>,
  successor: Publication,
  steps: readonly Shorter[],
  done: ((failure?: Error, leftOut?: LeftOut) => void) | undefined,
  leftOut?: LeftOut,
): void {
  delivery.replaceBy(successor, (failure) => {
    if (failure === undefined) return done?.(undefined, leftOut);
    const [next, ...rest] = steps;
    if (next === undefined || !isUnsendable(failure) || delivery.settled) return done?.(failure);
    replaceShortened(delivery, without(successor, next.names), rest, done, next.leftOut);
  });
}

function without({ properties, ...to }: Publication, names: readonly string[]): Publication {
  const headers = new Map(properties.headers);
  for (const name of names) headers.delete(name);
  return { ...to, properties: { ...properties, headers } };
}
