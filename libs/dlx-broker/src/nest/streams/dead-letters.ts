import {
  catchError,
  defer,
  EMPTY,
  mergeMap,
  Observable,
  type ObservableInput,
  ReplaySubject,
  Subject,
  Subscription,
  takeUntil,
} from 'rxjs';
import { type Backend, type BrowseCursor, need } from '../../backends/index.js';
import { defaultErrors } from '../../platform/history/index.js';
import { after, doNothing, HomeContext } from '../../platform/index.js';
import { notAPromise, optionsOf, parseDuration, refused, whole } from '../../platform/options/index.js';
import { WaitQueues } from '../retry/index.js';
import type { SafeTracing } from '../tracing/index.js';
import type { ConsumedLetter, LetterHost, SettledLetter } from './consumed-letter.js';
import { checkFunction, queueOf } from './given.js';
import { type CallbackTimeoutError, ConsumerCancelledError } from './letter-errors.js';
import { LetterStream } from './letter-stream.js';
import { Letter } from './letter.js';
import { type Failed, runForever } from './run-forever.js';

/** Letters of one page. Other work of the process runs between two pages. */
const pageSize = 100;

/**
 * Reads the letters of a queue in the order of delivery, and completes. Nothing is consumed, counted or flagged. Letters that arrive
 * or leave meanwhile may be read or not.
 */
const snapshot = <T>(backend: Backend, queue: string): Observable<Letter<T>> =>
  new Observable((subscriber) => {
    const run = async (): Promise<void> => {
      const browsing = need(backend, 'browsing');
      let next: BrowseCursor | undefined;
      do {
        const page = await browsing.browse(queue, pageSize, next);
        for (const message of page.messages) {
          if (subscriber.closed) return;
          subscriber.next(new Letter<T>(message, queue, backend.recordsOrigins));
        }
        next = page.next;
        if (next !== undefined) await new Promise<void>((resolve) => setImmediate(resolve));
      } while (next !== undefined && !subscriber.closed);
      subscriber.complete();
    };
    run().catch((error: unknown) => subscriber.error(error));
  });

export interface DeadLettersOptions {
  /** The wait queues of this broker, shared with the handlers. Default: classic wait queues of its own. */
  readonly waitQueues?: WaitQueues;
  /** Spans of letters that are retried, parked and redriven. Default: none. */
  readonly tracing?: SafeTracing | undefined;
  /** How many errors a letter keeps that is retried or parked; 0 adds none. Default 10. */
  readonly errorHistory?: number;
  /** Called for each letter that was settled. */
  readonly settled?: (letter: ConsumedLetter, what: SettledLetter) => void;
  /** Called for every function of the application inside an operator that did not answer in time. */
  readonly unanswered?: (error: CallbackTimeoutError) => void;
  /** Called when a pipeline of {@link DeadLetters.run} failed: why, how often in a row, and how long it pauses. */
  readonly report?: (failure: unknown, queues: QueueNames, failed: Failed) => void;
  /** Called when {@link DeadLetters.close} ended a pipeline of {@link DeadLetters.run}, and an operator threw at its end. */
  readonly endFailed?: (failure: unknown, queues: QueueNames) => void;
}

/** The prefetch of a stream, and how often it searches for new queues. */
export interface FromOptions {
  /** The most unsettled letters of one queue, without those that were left: 1 to 65535. Default 10. */
  readonly prefetch?: number;
  /**
   * Letters that may be left in one queue, unsettled, before the stream fails with a TooManyLeftError. Default: 32 times
   * the prefetch, which costs up to 32 consumers.
   */
  readonly leaveAtMost?: number;
  /** With a pattern: how often to search for new queues. Milliseconds or a string; default `'5s'`. */
  readonly pollInterval?: number | string;
}

/** The prefetch of a pipeline of {@link DeadLetters.run}, and its pause after a failure. */
export interface RunOptions extends FromOptions {
  /**
   * How long to wait before a failed pipeline restarts. Default `'1s'`. It doubles with each failure in a row, up to
   * a minute.
   */
  readonly pause?: number | string;
}

/** An operator for letters, or several piped together. It returns the observable itself: with a promise of it nothing would run. */
export type Pipeline<T> = (
  letters: Observable<ConsumedLetter<T>>,
) => Exclude<ObservableInput<unknown>, PromiseLike<unknown>>;

/** The dead letters of a broker, as streams. */
export class DeadLetters {
  readonly #backend: Backend;
  readonly #host: LetterHost;
  readonly #report: NonNullable<DeadLettersOptions['report']>;
  readonly #failures = new Subject<{ readonly letter: ConsumedLetter; readonly failure: unknown }>();
  readonly #endFailed: NonNullable<DeadLettersOptions['endFailed']>;
  readonly #runs = new Map<Subscription, QueueNames>();
  readonly #streams = new Set<LetterStream<never>>();
  #isClosed = false;
  /** Emits also to subscribers that come after the end. */
  readonly #closed = new ReplaySubject<void>(1);
  readonly #home = new HomeContext();
  /** @internal */
  readonly tracing: SafeTracing | undefined;
  /** @internal Why a redrive into this queue waits; undefined if it does not. Set by DlxBroker. */
  obstacleOf: ((queue: string) => string | undefined) | undefined;

  /** Every redrive, retry and parking that failed, also when its promise is not awaited. The letter is unsettled again. */
  readonly failures: Observable<{ readonly letter: ConsumedLetter; readonly failure: unknown }> =
    this.#failures.asObservable();

  /** @internal Made by DlxBrokerModule. */
  constructor(backend: Backend, options: DeadLettersOptions = {}) {
    const { waitQueues = new WaitQueues(backend), errorHistory = defaultErrors, tracing } = options;
    const { settled = doNothing, unanswered = doNothing, report = doNothing, endFailed = doNothing } = options;
    const failed: LetterHost['failed'] = (letter, failure) =>
      this.#home.fresh(this.#failures.next, this.#failures, { letter, failure });
    this.#backend = backend;
    this.#host = { backend, waitQueues, errorHistory, tracing, settled, unanswered, failed };
    this.#report = report;
    this.#endFailed = endFailed;
    this.tracing = tracing;
  }

  /**
   * The letters of a queue, of several, or of all whose names match a pattern. Cold: each subscription is a consumer of its own,
   * from subscribe to unsubscribe. At its end, and when the pipeline fails, unsettled letters return to their places in the queue. A letter
   * whose successor is on its way to the broker is settled first.
   * Nothing is buffered: the broker holds what exceeds the prefetch, so a stream whose letters are not settled stops.
   *
   * Skip letters with `where` or `whereReason`, not with `filter`, which would leave them unsettled. Place operators that end a
   * stream (`take`, `takeUntil`) after the work: letters that are unsettled at that time return to the queue.
   *
   * The stream fails with a ConsumerCancelledError when a queue is deleted, or a letter was unsettled for too long; with a pattern it
   * continues without the queue until the next list that has it. It completes when the application shuts down, and at once after that. A failure without an error handler ends the process, as in
   * RxJS; {@link run} handles failures.
   * @throws DlxConfigurationError for what names no queue, and for unknown or impossible options
   */
  from<T = unknown>(queues: QueueNames, options: FromOptions = {}): Observable<ConsumedLetter<T>> {
    checkQueues(queues);
    const given = optionsOf<FromOptions>(options, 'DeadLetters.from', 'write { prefetch: 10 }', fromOptions);
    const { prefetch = 10, leaveAtMost = 32 * prefetch } = given;
    whole(1, 65_535).read(prefetch, 'DeadLetters.from: prefetch');
    whole(0, Number.MAX_SAFE_INTEGER).read(leaveAtMost, 'DeadLetters.from: leaveAtMost');
    const pollInterval = parseDuration(given.pollInterval ?? '5s', 'DeadLetters.from: pollInterval');
    const one = (queue: string): Observable<ConsumedLetter<T>> =>
      new Observable((subscriber) => {
        const stream = new LetterStream<T>(this.#host, this.#home, queue, prefetch, leaveAtMost, subscriber);
        this.#streams.add(stream);
        subscriber.add(() => {
          this.#streams.delete(stream);
          stream.close();
        });
        stream.open();
      });
    if (typeof queues === 'string') return one(queues).pipe(takeUntil(this.#closed));
    const all = defer(() => {
      const consumed = new Set<string>();
      const orGone = (queue: string): Observable<ConsumedLetter<T>> =>
        one(queue).pipe(
          catchError((error: unknown) => {
            if (!(queues instanceof RegExp && error instanceof ConsumerCancelledError)) throw error;
            consumed.delete(queue); // it may exist, or be declared again
            return EMPTY;
          }),
        );
      return queueNames(this.#backend, queues, pollInterval, consumed).pipe(mergeMap(orGone));
    });
    return all.pipe(takeUntil(this.#closed));
  }

  /**
   * Reads the letters of a queue as they are now, in order, and completes. Nothing is consumed, counted or flagged, and the letters
   * cannot be settled.
   */
  replay<T = unknown>(queue: string): Observable<Letter<T>> {
    return snapshot<T>(this.#backend, queueOf(queue, 'DeadLetters.replay: queue'));
  }

  /**
   * Runs a pipeline until it is unsubscribed, or the application shuts down. When the pipeline fails, its unsettled letters return
   * to the queue, the failure is reported, and the pipeline restarts after a pause. The pause doubles with each failure in a row, up
   * to a minute.
   * @throws DlxConfigurationError for an impossible option, and for a pipeline that returns a promise
   */
  run<T = unknown>(queues: QueueNames, pipeline: Pipeline<T>, options: RunOptions = {}): Subscription {
    const pause = parseDuration(options.pause ?? '1s', 'DeadLetters.run: pause');
    checkFunction(pipeline, 'DeadLetters.run: pipeline', '(letters) => letters.pipe(redriveTo())');
    const { pause: _, ...ofFrom } = optionsOf<RunOptions>(options, 'DeadLetters.run', "write { pause: '1s' }");
    const letters = this.from<T>(queues, ofFrom);
    if (this.#isClosed) return Subscription.EMPTY;
    let hasBegun = false;
    let refusal: unknown;
    const make = (): ReturnType<Pipeline<T>> => {
      const made = pipeline(letters);
      try {
        return notAPromise(made, 'DeadLetters.run: pipeline', 'return the observable itself');
      } catch (error) {
        refusal = error;
        throw error;
      }
    };
    const report = (failure: unknown, failed: Failed): void => {
      if (hasBegun || failure !== refusal) this.#report(failure, queues, failed);
    };
    const run = runForever(this.#backend.clock, make, pause, report);
    hasBegun = true;
    if (refusal !== undefined) {
      run.unsubscribe();
      throw refusal;
    }
    this.#runs.set(run, queues);
    run.add(() => this.#runs.delete(run));
    return run;
  }

  /** @internal Emits at {@link close}, and at once after it. */
  get ending(): Observable<void> {
    return this.#closed;
  }

  /** @internal The letters that would return to each queue at {@link close}: neither settled nor left. */
  unsettled(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { queue, unsettled } of this.#streams) {
      if (unsettled > 0) counts.set(queue, (counts.get(queue) ?? 0) + unsettled);
    }
    return counts;
  }

  /**
   * Ends every {@link run}, and completes the streams of {@link from}. None begins after that. Unsettled letters return to their
   * queues, also while functions of the pipelines run. Idempotent.
   */
  close(): void {
    this.#isClosed = true;
    for (const [run, queues] of this.#runs) {
      try {
        run.unsubscribe();
      } catch (error) {
        this.#endFailed(error, queues);
      }
    }
    this.#closed.next();
  }
}

const fromOptions = ['prefetch', 'leaveAtMost', 'pollInterval'] as const;

function checkQueues(queues: QueueNames): void {
  const names: readonly unknown[] | undefined = Array.isArray(queues) ? queues : undefined;
  const isMeant = queues instanceof RegExp || (typeof queues === 'string' && queues !== '');
  if (isMeant || (names !== undefined && names.length > 0 && names.every((name) => typeof name === 'string' && name)))
    return;
  const remedy = "write 'orders.parked', a list of names, or a pattern such as /\\.parked$/";
  throw refused(queues, 'DeadLetters.from: queues', `names no queue; ${remedy}`);
}

/** The names of queues: one, several, or a pattern. A pattern also selects queues that are declared later. */
export type QueueNames = string | readonly string[] | RegExp;

/**
 * Emits the names of one queue or several once, and those that fit a pattern whenever they are not among the consumed ones, to which it
 * adds them.
 * @param pollInterval milliseconds between two lists of all queues, for a pattern
 */
function queueNames(
  backend: Backend,
  which: QueueNames,
  pollInterval: number,
  consumed: Set<string>,
): Observable<string> {
  return new Observable((subscriber) => {
    if (!(which instanceof RegExp)) {
      for (const name of new Set(typeof which === 'string' ? [which] : which)) subscriber.next(name);
      return subscriber.complete();
    }
    const fits = new RegExp(which.source, which.flags.replace(/[gy]/g, '')); // with these flags a pattern remembers its last position
    let cancel: (() => void) | undefined;
    const poll = async (): Promise<void> => {
      try {
        for (const name of await need(backend, 'listing').queueNames()) {
          if (!fits.test(name) || consumed.has(name)) continue;
          consumed.add(name);
          subscriber.next(name);
        }
        if (!subscriber.closed) cancel = after(backend.clock, pollInterval, () => void poll());
      } catch (error) {
        subscriber.error(error);
      }
    };
    void poll();
    return () => cancel?.();
  });
}
