import {
  groupBy,
  type GroupedObservable,
  type MonoTypeOperatorFunction,
  Observable,
  type OperatorFunction,
  Subject,
} from 'rxjs';
import { type DeathReason, deathReasons } from '../../engine/message/index.js';
import { UndecodablePayloadError } from '../../platform/history/index.js';
import { after, doNothing } from '../../platform/index.js';
import { notAPromise, optionsOf, refused } from '../../platform/options/index.js';
import type { ConsumedLetter } from './consumed-letter.js';
import { checkFunction, refuseBareOperator, withinOf, type WithinOption } from './given.js';
import { CallbackTimeoutError } from './letter-errors.js';
import type { XDeath } from './letter.js';

/**
 * What happens to a letter that does not pass.
 * - `leave`: it stays in its queue until the stream ends, and later letters pass it. The default.
 * - `ack`: it is acknowledged, and leaves the queue for good.
 * - `reject`: it goes to the dead-letter exchange of its queue; without one it is deleted.
 * - `requeue`: it returns to its place and is delivered again at once. Use it only if the queue has other consumers; otherwise the
 *   same letter is delivered to this stream without a pause.
 * - a function: settles the letter, now or later. Until then the letter counts as left. The stream fails when the function throws,
 *   when its promise rejects, and when the promise stays unsettled for longer than `within`.
 */
export type Otherwise<L extends ConsumedLetter = ConsumedLetter> =
  'leave' | 'ack' | 'reject' | 'requeue' | ((letter: L) => unknown);

/** What happens to letters that do not pass. */
export interface WhereOptions<L extends ConsumedLetter = ConsumedLetter> extends WithinOption {
  /** Default `leave`. */
  readonly otherwise?: Otherwise<L>;
}

/**
 * Passes on letters for which a test returns true; `otherwise` decides about the others. A type guard narrows the
 * letters.
 * @throws DlxConfigurationError at once for a test that is no function, and for unknown or impossible options
 */
export function where<L extends ConsumedLetter, Fits extends L>(
  test: (letter: L) => letter is Fits,
  options?: WhereOptions<L>,
): OperatorFunction<L, Fits>;
export function where<L extends ConsumedLetter>(
  test: (letter: L) => boolean,
  options?: WhereOptions<L>,
): MonoTypeOperatorFunction<L>;
export function where<L extends ConsumedLetter>(
  test: (letter: L) => boolean,
  options: WhereOptions<L> = {},
): MonoTypeOperatorFunction<L> {
  checkFunction(test, 'where: the test', '(letter) => true');
  return whereAs('where', test, options);
}

/** @internal The operator {@link where} with another name in its errors. */
function whereAs<L extends ConsumedLetter>(
  operator: string,
  test: (letter: L) => boolean,
  options: WhereOptions<L> = {},
): MonoTypeOperatorFunction<L> {
  refuseBareOperator(operator, options);
  optionsOf(options, operator, "write { otherwise: 'ack' }", whereOptions);
  const { otherwise = 'leave' } = options;
  if (typeof otherwise !== 'function' && !settlements.includes(otherwise)) {
    throw refused(
      otherwise,
      `${operator}: otherwise`,
      `is none of ${settlements.join(', ')}, and no function of the letter`,
    );
  }
  const limit = { origin: `${operator}: otherwise`, within: withinOf(options, operator) };
  return callbackFilter((letter, watch) => {
    if (notAPromise(test(letter), `${operator}: the test`)) return true;
    if (typeof otherwise === 'function') watch(otherwise(letter));
    else letter[otherwise]();
    letter.leave(); // no effect on a settled letter
    return false;
  }, limit);
}

const settlements: readonly unknown[] = ['leave', 'ack', 'reject', 'requeue'] satisfies readonly Otherwise[];
const whereOptions: readonly string[] = ['otherwise', 'within'] satisfies readonly (keyof WhereOptions)[];

/**
 * Passes letters whose latest death had this reason, or one of these. A letter that never died has none. The option `otherwise`
 * decides about the others, see {@link where}.
 * @throws DlxConfigurationError at once for a value that is no reason, and for unknown or impossible options
 */
export function whereReason<L extends ConsumedLetter>(
  reason: DeathReason | readonly DeathReason[],
  options?: WhereOptions<L>,
): MonoTypeOperatorFunction<L> {
  const wanted: readonly string[] = typeof reason === 'string' ? [reason] : reason;
  if (
    !Array.isArray(wanted) ||
    wanted.length === 0 ||
    wanted.some((each) => !deathReasons.includes(each as DeathReason))
  ) {
    throw refused(reason, 'whereReason', `is no reason of a death; there are ${deathReasons.join(', ')}`);
  }
  return whereAs<L>(
    'whereReason',
    ({ deaths: [latest] }) => latest !== undefined && wanted.includes(latest.reason),
    options,
  );
}

/** A letter whose payload was decoded. Nothing checks that the payload has the type T. */
export interface DecodedLetter<T = unknown> extends ConsumedLetter<T> {
  readonly payload: T;
}

/** Passes letters whose body could be decoded. The option `otherwise` decides about the others, see {@link where}. */
export const whereDecoded = <T>(
  options?: WhereOptions<ConsumedLetter<T>>,
): OperatorFunction<ConsumedLetter<T>, DecodedLetter<T>> =>
  whereAs('whereDecoded', isDecoded<T>, options) as OperatorFunction<ConsumedLetter<T>, DecodedLetter<T>>;

const isDecoded = <T>(letter: ConsumedLetter<T>): letter is DecodedLetter<T> =>
  !(letter.payload instanceof UndecodablePayloadError);

/**
 * Calls a function with every letter that passes and its deaths, the latest first. The stream fails when `observe`
 * throws, when its promise rejects, and when the promise stays unsettled for longer than `within`. Letters pass without waiting for
 * the promise.
 * @throws DlxConfigurationError at once for a `observe` that is no function, and for unknown or impossible options
 */
export function tapDeaths<L extends ConsumedLetter>(
  observe: (deaths: readonly XDeath[], letter: L) => unknown,
  options: WithinOption = {},
): MonoTypeOperatorFunction<L> {
  checkFunction(observe, 'tapDeaths: observe', '(deaths, letter) => console.log(deaths)');
  optionsOf(options, 'tapDeaths', "write { within: '1m' }", ['within']);
  return callbackFilter(
    (letter, watch) => {
      watch(observe(letter.deaths, letter));
      return true;
    },
    { origin: 'tapDeaths: observe', within: withinOf(options, 'tapDeaths') },
  );
}

/** One stream for each group of letters that have the same key. */
export type GroupLetters<L extends ConsumedLetter> = OperatorFunction<L, GroupedObservable<string, L>>;

/**
 * Groups letters by a key. Letters of a group without a subscriber are left, see {@link ConsumedLetter.leave}.
 */
const groupLetters = <L extends ConsumedLetter>(keyOf: (letter: L) => string): GroupLetters<L> =>
  groupBy(keyOf, { connector: () => new Group<L>() });

class Group<L extends ConsumedLetter> extends Subject<L> {
  override next(letter: L): void {
    if (this.observed) super.next(letter);
    else letter.leave();
  }
}

/** One stream for each reason of the latest death: `rejected`, `expired` ... The reason of a letter that never died is ''. */
export const groupByReason = <L extends ConsumedLetter>(): GroupLetters<L> =>
  groupLetters(({ deaths: [latest] }) => latest?.reason ?? '');

/**
 * One stream for each class of errors in the header `dlx-error-class`. The class of a letter without the header is ''.
 */
export const groupByError = <L extends ConsumedLetter>(): GroupLetters<L> =>
  groupLetters(({ error }) => error?.name ?? '');

/** One stream for each work queue, which is the queue in which a letter failed at first. */
export const groupByQueue = <L extends ConsumedLetter>(): GroupLetters<L> => groupLetters(({ workQueue }) => workQueue);

/** The time limit of a function of the application inside an operator. */
export interface CallbackLimit {
  /** The name of the function, for the error: `tapDeaths: look`. */
  readonly origin: string;
  /** The limit in milliseconds; undefined: none. */
  readonly within: number | undefined;
}

/**
 * A filter that calls functions of the application. Such a function may return a promise; the letter passes without waiting for
 * it. The stream fails when the function throws, when its promise rejects, and when the promise is not settled in time. The end of
 * the stream removes every timer.
 * @param passes returns true for a letter that passes, and calls `watch` with what a function of the application returned
 */
const callbackFilter =
  <L extends ConsumedLetter>(
    passes: (letter: L, watch: (answer: unknown) => void) => boolean,
    { origin, within }: CallbackLimit,
  ): MonoTypeOperatorFunction<L> =>
  (source) =>
    new Observable((subscriber) => {
      const limits = new Set<() => void>();
      subscriber.add(() => {
        for (const cancel of limits) cancel();
        limits.clear();
      });
      const fail = (error: unknown): void => subscriber.error(error);
      /** Starts a timer. @returns a function that stops it */
      const limit = (letter: L): (() => void) => {
        if (within === undefined || subscriber.closed) return doNothing;
        const cancel = after(letter.clock, within, () => {
          limits.delete(cancel);
          const error = new CallbackTimeoutError(origin, letter.queue, within);
          letter.unanswered(error);
          fail(error);
        });
        limits.add(cancel);
        return () => {
          if (limits.delete(cancel)) cancel();
        };
      };
      return source.subscribe({
        next: (letter) => {
          const watch = (answer: unknown): void => {
            if (!(answer instanceof Promise) && typeof (answer as PromiseLike<unknown> | null)?.then !== 'function')
              return;
            const answered = limit(letter);
            Promise.resolve(answer).then(answered, (error: unknown) => {
              answered();
              fail(error);
            });
          };
          try {
            if (passes(letter, watch)) subscriber.next(letter);
          } catch (error) {
            fail(error);
          }
        },
        error: fail,
        complete: () => subscriber.complete(),
      });
    });
