import {
  concatMap,
  defer,
  EMPTY,
  from,
  groupBy,
  map,
  mergeMap,
  type MonoTypeOperatorFunction,
  Observable,
  of,
  type OperatorFunction,
} from 'rxjs';
import { after } from '../../platform/index.js';
import { checkMethods, DlxConfigurationError, notAPromise, optionsOf, shown } from '../../platform/options/index.js';
import { Pacing } from '../../server/redrive/index.js';
import {
  decideRetry,
  isNotRetryable,
  isUnsendable,
  NotedFailure,
  type ParkedFor,
  planRetry,
  type RetryOutcome,
  type RetryPlan,
  type RetryPolicy,
} from '../retry/index.js';
import type { ConsumedLetter } from './consumed-letter.js';
import {
  checkFunction,
  queueOf,
  refuseBareOperator,
  type RedriveTarget,
  targetOf,
  withinOf,
  type WithinOption,
} from './given.js';
import { CallbackTimeoutError } from './letter-errors.js';
import { clockTimer } from './run-forever.js';

/**
 * Redrives every letter, and emits each when the broker has it. A letter that cannot be redriven fails the stream, and all
 * unsettled letters return to the queue.
 * @param to the target, or a function that chooses one for each letter. Default: the origin. The stream fails when the function
 *   throws, or returns a promise or a value that is no target
 * @throws DlxConfigurationError at once for a value that is neither a target nor a function
 */
export function redriveTo<L extends ConsumedLetter>(
  to?: RedriveTarget | ((letter: L) => RedriveTarget),
): MonoTypeOperatorFunction<L> {
  refuseBareOperator('redriveTo', to);
  if (typeof to !== 'function') targetOf(to, 'redriveTo: to');
  return mergeMap(async (letter) => {
    const target = typeof to === 'function' ? targetOf(notAPromise(to(letter), origin), origin) : to;
    await letter.redrive(target);
    return letter;
  });
}

const origin = 'redriveTo: to';

/** The rate and the target. */
export interface ThrottleOptions {
  /** The most letters a second. */
  readonly perSecond: number;
  /** Default: the origin of each letter. */
  readonly to?: RedriveTarget;
}

/**
 * Redrives letters one after the other, no faster than `perSecond`, so that a recovered service is not overloaded. It emits each
 * letter when the broker has it. The prefetch of the stream limits how many letters wait. A letter that cannot be redriven fails
 * the stream.
 * @throws DlxConfigurationError at once for an impossible rate, for a target that is none, and for unknown options
 */
export function throttleRedrive<L extends ConsumedLetter>(options: ThrottleOptions): MonoTypeOperatorFunction<L> {
  const remedy = 'write { perSecond: 10 }';
  const { perSecond, to } = optionsOf<ThrottleOptions>(options, 'throttleRedrive', remedy, ['perSecond', 'to']);
  targetOf(to, 'throttleRedrive: to');
  if (typeof perSecond !== 'number' || !(perSecond > 0) || perSecond === Infinity) {
    const text = `throttleRedrive: perSecond is ${shown(perSecond)}; write a number above 0, or use redriveTo()`;
    throw new DlxConfigurationError(text);
  }
  return (letters) =>
    defer(() => {
      const pacing = new Pacing(perSecond);
      const turn = (letter: L): Observable<void> => clockTimer(letter.clock, pacing.take(letter.clock.now()));
      const redrive = (letter: L): Observable<L> =>
        letter.open ? from(letter.redrive(to)).pipe(map(() => letter)) : of(letter);
      return letters.pipe(concatMap((letter) => turn(letter).pipe(concatMap(() => redrive(letter)))));
    });
}

/** A letter that was retried or parked. */
export interface RetriedLetter<L extends ConsumedLetter = ConsumedLetter> {
  readonly letter: L;
  readonly outcome: RetryOutcome;
}

/**
 * Sends every letter back to its work queue, after a wait that grows with its failures there, and parks it as `@Retry` does:
 * when the attempts or the deadline are used up, or when its error is not worth another attempt. The error is known by its
 * headers `dlx-error-class` and `dlx-error-message` only: tests of the policy get a {@link NotedFailure}, or undefined for a
 * letter without them. A letter whose headers leave no room for the number of its attempt is parked. Emits what it did once the
 * broker has the letter. A letter that can neither be sent back nor parked
 * fails the stream: it and everything unsettled goes back to the queue.
 * @param random draws the step of a jitter; `Math.random` by default
 * @throws DlxConfigurationError at once for a policy that can never work, for one with a `timeout`, because no handler runs here, and for
 *   one with `parkFor`, because the stream does not declare the parking lot
 */
export function retryWithBackoff<L extends ConsumedLetter>(
  policy: RetryPolicy,
  random: () => number = Math.random,
): OperatorFunction<L, RetriedLetter<L>> {
  const planFor = (queue: string): RetryPlan =>
    planRetry(policy, { queue, origin: 'retryWithBackoff', random, neverRetry: isNotRetryable });
  planFor('*');
  checkFunction(random, 'retryWithBackoff: random', '() => Math.random()');
  if (policy.timeout !== undefined) throw new DlxConfigurationError(noTimeout);
  if (policy.parkFor !== undefined) throw new DlxConfigurationError(noRetention);
  return mergeMap(async (letter): Promise<RetriedLetter<L>> => {
    const plan = planFor(letter.workQueue);
    const attempt = Math.max(1, letter.failures);
    const { error, failingSince, clock } = letter;
    const failed = {
      attempt,
      error: error && new NotedFailure(error.name, error.message),
      now: clock.now(),
      failingSince: failingSince?.getTime(),
    };
    const decision = decideRetry(plan, failed, (delay) => letter.waitFor(delay));
    if (decision.kind === 'park') return park(letter, plan, attempt, decision);
    const { delay } = decision;
    try {
      await letter.retryIn(delay);
    } catch (failure) {
      if (!isUnsendable(failure as Error) || !letter.open) throw failure;
      return park(letter, plan, attempt, { why: 'headers' });
    }
    return { letter, outcome: { kind: 'retried', delay, attempt } };
  });
}

async function park<L extends ConsumedLetter>(
  letter: L,
  { parkingLot: queue }: RetryPlan,
  attempt: number,
  { why, fault }: { readonly why: ParkedFor; readonly fault?: unknown },
): Promise<RetriedLetter<L>> {
  await letter.park(queue);
  return { letter, outcome: { kind: 'parked', queue, attempt, why, ...(fault === undefined ? {} : { fault }) } };
}

const noTimeout =
  'retryWithBackoff: timeout limits an attempt of a handler, and none runs in a stream; leave it out here and set it in ' +
  'the @Retry of the handler of the work queue';

const noRetention =
  'retryWithBackoff: parkFor is an argument of the parking lot, which a stream does not declare; leave it out here and set it in ' +
  'the @Retry of the handler of the work queue';

/**
 * Parks letters for which a test returns true, and passes the others on.
 * @param queue where to; default: the name of the work queue and `.parked`
 * @throws DlxConfigurationError at once for a test that is no function, and for what names no queue
 */
export function parkWhen<L extends ConsumedLetter>(
  test: (letter: L) => boolean,
  queue?: string,
): MonoTypeOperatorFunction<L> {
  checkFunction(test, 'parkWhen: the test', '(letter) => letter.redrives > 3');
  if (queue !== undefined) queueOf(queue, 'parkWhen: queue');
  return mergeMap((letter) =>
    notAPromise(test(letter), 'parkWhen: the test')
      ? from(letter.park(queue)).pipe(concatMap(() => EMPTY))
      : of(letter),
  );
}

/** Where {@link archiveTo} writes letters: a file, a table, an object store. */
export interface ArchiveSink<L extends ConsumedLetter = ConsumedLetter> {
  /** Writes a letter. May return a promise. A crash may follow, so the same letter may come again: know it by its message id. */
  write(letter: L): unknown;
  /** Makes what was written durable, before the letter is acked. May return a promise. Absent: `write` does so itself. */
  flush?(): unknown;
}

/**
 * Writes letters to an archive: each is written, flushed and then acked, so that it leaves its queue only when the archive has it. Letters
 * of one queue are written one after the other, in their order; those of several queues side by side. Passes the letters that it acked.
 * The stream fails when the sink throws, rejects, or does not answer within `within`: the letter and everything unsettled goes back.
 * @throws DlxConfigurationError at once for a sink without `write`, and for unknown or impossible options
 */
export function archiveTo<L extends ConsumedLetter>(
  sink: ArchiveSink<L>,
  options: WithinOption = {},
): MonoTypeOperatorFunction<L> {
  checkMethods(sink, 'archiveTo: sink', 'ArchiveSink', ['write']);
  optionsOf(options, 'archiveTo', "write { within: '1m' }", ['within']);
  const within = withinOf(options, 'archiveTo');
  const archived = (letter: L): Observable<L> =>
    new Observable((subscriber) => {
      if (letter.isReturned) return subscriber.complete();
      if (within !== undefined) {
        const tooLate = (): void => {
          const error = new CallbackTimeoutError('archiveTo: sink', letter.queue, within);
          letter.unanswered(error);
          subscriber.error(error);
        };
        subscriber.add(after(letter.clock, within, tooLate));
      }
      const written = (): void => {
        if (subscriber.closed) return; // too late, or the stream has ended: the letter is back in its queue
        if (letter.isReturned) return subscriber.complete(); // so it is when the application shuts down
        letter.ack();
        subscriber.next(letter);
        subscriber.complete();
      };
      write(sink, letter)
        .then(written)
        .catch((error: unknown) => subscriber.error(error));
    });
  return (source) =>
    source.pipe(
      groupBy(({ queue }) => queue),
      mergeMap((ofQueue) => ofQueue.pipe(concatMap(archived))),
    );
}

async function write<L extends ConsumedLetter>(sink: ArchiveSink<L>, letter: L): Promise<void> {
  await sink.write(letter);
  await sink.flush?.();
}
