import { AsyncResource } from 'node:async_hooks';
import { Observable } from 'rxjs';
import { type BackendState, ConnectionLostError, type Publication, whyNotConnected } from '../../backends/index.js';
import type { OwnTimers } from '../../platform/index.js';
import { longestDuration } from '../../platform/options/index.js';

/** No answer to a request came in the time of option `timeout`. A handler may still be at work on it. */
export class RequestTimeoutError extends Error {
  override readonly name = 'RequestTimeoutError';

  constructor(
    /** The pattern as a routing key. */
    readonly pattern: string,
    /** Milliseconds. */
    readonly timeout: number,
  ) {
    super(`no answer to '${pattern}' within ${timeout} ms`);
  }
}

/** The error of a request whose time is over. @param milliseconds its time */
export function tooLate(state: BackendState, pattern: string, milliseconds: number): Error {
  if (state.kind === 'ready' || state.kind === 'blocked') return new RequestTimeoutError(pattern, milliseconds);
  const text = `not connected: request '${pattern}' was not sent within ${milliseconds} ms: ${whyNotConnected(state)}`;
  return new ConnectionLostError(text, false);
}

/**
 * A request that is not sent after this many milliseconds, and expires in its queue by then, unless its own expiration is shorter. An
 * expiration that is none stays, and the broker refuses it, as it does without a timeout.
 */
export function expiringIn(publication: Publication, milliseconds: number | undefined): Publication {
  if (milliseconds === undefined) return publication;
  const { properties } = publication;
  const { expiration } = properties;
  if (expiration !== undefined && !isLonger(expiration, milliseconds)) return { ...publication, timeout: milliseconds };
  return { ...publication, timeout: milliseconds, properties: { ...properties, expiration: String(milliseconds) } };
}

const isLonger = (expiration: string, milliseconds: number): boolean =>
  /^\+?\d+$/.test(expiration) && Number(expiration) > milliseconds && Number(expiration) <= longestDuration;

/**
 * Limits the time until the first answer. At its end the answers are unsubscribed, which gives the request up. The subscriber gets the
 * error in its own async context.
 * @param timeout milliseconds
 */
export const answeredWithin = <T>(
  answers: Observable<T>,
  timeout: number,
  timers: OwnTimers,
  failure: () => Error,
): Observable<T> =>
  new Observable((subscriber) => {
    const own = new AsyncResource('DlxRequestTimeout');
    const cancel = timers.after(timeout, () => own.runInAsyncScope(() => subscriber.error(failure())));
    subscriber.add(cancel);
    subscriber.add(
      answers.subscribe({
        next: (answer) => {
          cancel();
          subscriber.next(answer);
        },
        error: (error: unknown) => subscriber.error(error),
        complete: () => subscriber.complete(),
      }),
    );
  });
