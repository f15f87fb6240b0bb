import { lastValueFrom, ReplaySubject, type Observable, type Subscription } from 'rxjs';
import type { Backend } from '../backend/index.js';
import type { RedriveState } from '../redrive/index.js';
import type { DeadLetters } from './dead-letters.js';
import { LetterRedrive } from './letter-redrive.js';
import type { ResolvedRedrive } from './redrive-request.js';

/** How far a redrive has come. */
export interface RedriveProgress {
  /** `paused` by a caller, or `waiting` by itself because too much came back. `failed`: see `error`. */
  readonly state: 'running' | 'paused' | 'waiting' | 'stopped' | 'done' | 'failed';
  /** Letters in the queue at the start. */
  readonly total: number;
  readonly redriven: number;
  /** Letters that do not match or cannot be redriven: they keep their places. */
  readonly left: number;
  /**
   * Of those left: only headers tell where they came from, which a client may have written. They need a `to`. Absent when
   * there are none.
   */
  readonly unproven?: number;
  /**
   * Where they went, or would go if it were not a dry run: how many, by `exchange/routing key`. With many of these it
   * is updated every so many letters only, and at the end.
   */
  readonly destinations: Readonly<Record<string, number>>;
  /**
   * Letters that arrived in the queue meanwhile: what was redriven and failed again, or others like it. Counted with a circuit
   * only, and in {@link RedriveTask.current} for a minute after the end as well.
   */
  readonly arrived: number;
  readonly error?: unknown;
}

/** With so many destinations their counts are updated rarely, because copying them costs as much as there are. */
const destinationsPerLetter = 16;

/** The states in the words of this API. */
const states: Readonly<Record<RedriveState, RedriveProgress['state']>> = {
  running: 'running',
  paused: 'paused',
  tripped: 'waiting',
  stopped: 'stopped',
  completed: 'done',
  failed: 'failed',
};

/** One redrive, from its start to its end. */
export class RedriveTask {
  /** Also for those who come when it has ended. */
  readonly #progress = new ReplaySubject<RedriveProgress>(1);
  #current: RedriveProgress;
  /** Letters in the destinations of {@link current}. */
  #noted = 0;
  readonly #redrive: LetterRedrive;
  readonly #letters: Subscription;

  /** Made by {@link Redrives.start}. */
  constructor(backend: Backend, letters: DeadLetters, request: ResolvedRedrive) {
    this.#current = { state: 'running', total: 0, redriven: 0, left: 0, arrived: 0, destinations: {} };
    this.#progress.next(this.#current);
    this.#redrive = new LetterRedrive(backend, letters, request, () => this.#show());
    // Before its own streams complete, which would look like the last letter.
    this.#letters = letters.ending.subscribe(() => this.close());
    void this.#redrive.run();
  }

  /** How far it has come: now, at every step, and at the end, with which it completes. It never fails: see `state`. */
  get progress(): Observable<RedriveProgress> {
    return this.#progress.asObservable();
  }

  get current(): RedriveProgress {
    return this.#current;
  }

  /**
   * Up to when `current.arrived` tells what comes back: a minute after the end. Undefined before the end, and without a circuit,
   * when nothing is looked at.
   */
  get watchedUntil(): Date | undefined {
    const { watchedUntil } = this.#redrive;
    return watchedUntil === undefined ? undefined : new Date(watchedUntil);
  }

  /** Resolves at its end. */
  get ended(): Promise<RedriveProgress> {
    return lastValueFrom(this.#progress);
  }

  /** Holds it up until {@link resume}. */
  pause(): void {
    this.#redrive.pause();
  }

  resume(): void {
    this.#redrive.resume();
  }

  /** Ends it; what was not redriven yet keeps its place. */
  stop(): void {
    this.#redrive.stop();
  }

  /** @internal Stops it, and looks for what comes back no longer. Idempotent. */
  close(): void {
    this.#redrive.close();
  }

  /** Destinations that were handed out do not change any more. */
  #show(): void {
    const { state, total, error, noted, isOver, counts } = this.#redrive;
    const { moved, left, unproven, cameBack } = counts;
    const untold = noted - this.#noted;
    const isChange = states[state] !== this.#current.state;
    const isDue = untold > 0 && (isChange || untold * destinationsPerLetter >= counts.destinations.size);
    if (isDue) this.#noted = noted;
    this.#current = {
      state: states[state],
      total,
      redriven: moved,
      left,
      ...(unproven > 0 && { unproven }),
      arrived: cameBack,
      destinations: isDue ? Object.fromEntries(counts.destinations) : this.#current.destinations,
      ...(error !== undefined && { error }),
    };
    this.#progress.next(this.#current);
    if (!isOver || !isChange) return;
    this.#progress.complete();
    queueMicrotask(() => this.#letters.unsubscribe()); // it may not be there yet
  }
}
