import { lastValueFrom, Observable, ReplaySubject, type Subscription } from 'rxjs';
import type { Backend } from '../../backends/index.js';
import type { DeadLetters } from './dead-letters.js';
import { LetterRedrive } from './letter-redrive.js';
import type { ResolvedRedrive } from './redrive-request.js';

/**
 * The same values. What a subscriber throws at its end, in `finalize` for example, goes to `failed`: RxJS would throw it to the source,
 * whose other subscribers would hear nothing any more.
 */
export const guarded = <T>(source: Observable<T>, failed: (error: unknown) => void): Observable<T> =>
  new Observable((subscriber) => {
    const attempt = (call: () => void): void => {
      try {
        call();
      } catch (error) {
        failed(error);
      }
    };
    return source.subscribe({
      next: (value) => attempt(() => subscriber.next(value)),
      error: (error) => attempt(() => subscriber.error(error)),
      complete: () => attempt(() => subscriber.complete()),
    });
  });

/** The state and the counts of a redrive. */
export interface RedriveProgress {
  /**
   * `paused` by a caller; `waiting` by itself, because too many letters came back, or because the circuit of the handlers of their queue
   * is open. `failed`: see `error`.
   */
  readonly state: 'running' | 'waiting' | 'paused' | 'done' | 'cancelled' | 'failed';
  /** Letters in the queue at the start. */
  readonly total: number;
  readonly redriven: number;
  /** Letters that do not match or cannot be redriven. They keep their places. */
  readonly left: number;
  /**
   * Letters among those left whose origin only headers name, which a client may have written. Their redrive needs a `to`. Absent
   * when there are none.
   */
  readonly unproven?: number;
  /**
   * Letters among those left that `edit` did not change, or could not: see `DeadLetters.failures` for what it threw. Absent when there are
   * none.
   */
  readonly unedited?: number;
  /**
   * The number of letters for each `exchange/routing key`; in a dry run, the number that would go there. With many destinations
   * it is updated rarely, and at the end.
   */
  readonly destinations: Readonly<Record<string, number>>;
  /**
   * Letters that arrived in the queue meanwhile: redriven letters that failed again, and new ones. Counted with a circuit only, and
   * in {@link RedriveTask.current} for a minute after the end as well.
   */
  readonly arrived: number;
  /** Why it failed. As JSON an error of this library has its message; of an error of the application write `error.message`. With the state `done`: why letters stayed that could not go to their origin or to the queue in `to`, for one of them. */
  readonly error?: Error;
}

/** The number of letters for each destination after which the counts are copied. A copy takes time in proportion to the destinations. */
const destinationsPerLetter = 16;

/** One redrive, from its start to its end. */
export class RedriveTask {
  /** Emits also to subscribers that come after the end. */
  readonly #progress = new ReplaySubject<RedriveProgress>(1);
  #current: RedriveProgress;
  /** Letters in the destinations of {@link current}. */
  #noted = 0;
  readonly #redrive: LetterRedrive;
  readonly #letters: Subscription;

  /** Made by {@link Redrives.start}. */
  constructor(
    backend: Backend,
    letters: DeadLetters,
    request: ResolvedRedrive,
    /** Called with what a subscriber throws. */
    private readonly thrown: (error: unknown) => void,
  ) {
    this.#current = { state: 'running', total: 0, redriven: 0, left: 0, arrived: 0, destinations: {} };
    this.#progress.next(this.#current);
    this.#redrive = new LetterRedrive(backend, letters, request, () => this.#show());
    // Closes before its own streams complete, which would look like the end of the queue.
    this.#letters = letters.ending.subscribe(() => this.close());
    void this.#redrive.run();
  }

  /** The progress: now, after every step, and at the end, when it completes. It never fails: see `state`. */
  get progress(): Observable<RedriveProgress> {
    return guarded(this.#progress, this.thrown);
  }

  get current(): RedriveProgress {
    return this.#current;
  }

  /**
   * Until when `current.arrived` counts letters that come back: a minute after the end. Undefined before the end, and without a
   * circuit.
   */
  get watchedUntil(): Date | undefined {
    const { watchedUntil } = this.#redrive;
    return watchedUntil === undefined ? undefined : new Date(watchedUntil);
  }

  /** Resolves at its end. */
  get ended(): Promise<RedriveProgress> {
    return lastValueFrom(this.#progress);
  }

  /** Pauses it until {@link resume}. */
  pause(): void {
    this.#redrive.pause();
  }

  resume(): void {
    this.#redrive.resume();
  }

  /** Ends it. Letters that were not redriven yet keep their places. */
  cancel(): void {
    this.#redrive.cancel();
  }

  /** @internal Cancels it, and ends the watch after its end. Idempotent. */
  close(): void {
    this.#redrive.close();
  }

  /** Emits the progress. An emitted object never changes. */
  #show(): void {
    const { state, total, error, noted, isOver, counts, unedited } = this.#redrive;
    const { moved, left, unproven, returned } = counts;
    const unshown = noted - this.#noted;
    const isChange = state !== this.#current.state;
    const isDue = unshown > 0 && (isChange || unshown * destinationsPerLetter >= counts.destinations.size);
    if (isDue) this.#noted = noted;
    this.#current = {
      state,
      total,
      redriven: moved,
      left,
      ...(unproven > 0 && { unproven }),
      ...(unedited > 0 && { unedited }),
      arrived: returned,
      destinations: isDue ? Object.fromEntries(counts.destinations) : this.#current.destinations,
      ...(error !== undefined && { error }),
    };
    this.#progress.next(this.#current);
    if (!isOver || !isChange) return;
    this.#progress.complete();
    queueMicrotask(() => this.#letters.unsubscribe()); // the constructor may not have set it yet
  }
}
