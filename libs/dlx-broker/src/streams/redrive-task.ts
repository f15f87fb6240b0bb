import {
  concatMap,
  lastValueFrom,
  ReplaySubject,
  Subject,
  take,
  takeUntil,
  type Observable,
  type Subscription,
} from 'rxjs';
import { after } from '../host/index.js';
import { UnprovenOriginError } from '../retry/index.js';
import type { Address } from '../message/index.js';
import { type Backend } from '../backend/index.js';
import { Arrivals } from './arrivals.js';
import type { DeadLetter } from './dead-letter.js';
import type { DeadLetters } from './dead-letters.js';
import type { ResolvedRedrive } from './redrive-request.js';
import type { RedriveTarget } from './redrive-to.js';

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

/** Letters in hand. Those left are in hand too, a consumer for each so many. */
const inHand = 200;

/** With so many destinations their counts are updated rarely, because copying them costs as much as there are. */
const destinationsPerLetter = 16;

/** Letters a second up to which what comes back is seen in time. */
const fast = 1_000;
/** Milliseconds that letters have to come back when they go faster than that. */
const lookPause = 1_000;

const ended: readonly RedriveProgress['state'][] = ['stopped', 'done', 'failed'];

/** One redrive, from its start to its end. */
export class RedriveTask {
  /** Also for those who come when it has ended. */
  readonly #progress = new ReplaySubject<RedriveProgress>(1);
  #current: RedriveProgress;
  readonly #destinations = new Map<string, number>();
  /** Letters since the destinations were last updated. */
  #untold = 0;
  readonly #stopped = new Subject<void>();
  /** Called by whatever ends a wait. */
  #wake: (() => void) | undefined;
  #next = 0;
  /** Redriven before the circuit looks again, and when it looked last. */
  #lookAt: number;
  #lookedAt = 0;
  readonly #arrivals: Arrivals;
  readonly #letters: Subscription;

  /** Made by {@link Redrives.start}. */
  constructor(
    private readonly backend: Backend,
    private readonly letters: DeadLetters,
    private readonly request: ResolvedRedrive,
  ) {
    this.#arrivals = new Arrivals(backend);
    this.#lookAt = request.circuit?.atLeast ?? Infinity;
    const nothing = { total: 0, redriven: 0, left: 0, arrived: 0, destinations: {} };
    this.#current = { state: 'running', ...nothing };
    this.#progress.next(this.#current);
    // Before its own streams complete, which would look like the last letter.
    this.#letters = letters.ending.subscribe(() => this.close());
    this.#run().then(
      () => this.#end('done'),
      (error: unknown) => this.#end('failed', error),
    );
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
    return this.#arrivals.until;
  }

  /** Resolves at its end. */
  get ended(): Promise<RedriveProgress> {
    return lastValueFrom(this.#progress);
  }

  /** Holds it up until {@link resume}. */
  pause(): void {
    if (!this.#hasEnded) this.#tell({ state: 'paused' });
  }

  resume(): void {
    if (this.#hasEnded) return;
    this.#tell({ state: 'running' });
    this.#wake?.();
  }

  /** Ends it; what was not redriven yet keeps its place. */
  stop(): void {
    this.#end('stopped');
    this.#stopped.next();
    this.#wake?.();
  }

  /** @internal Stops it, and looks for what comes back no longer. Idempotent. */
  close(): void {
    this.#arrivals.close();
    this.stop();
  }

  get #hasEnded(): boolean {
    return ended.includes(this.current.state);
  }

  async #run(): Promise<void> {
    const lengths = new Map<string, number>();
    for (const queue of this.request.queues) {
      const status = await this.backend.status(queue);
      if (status === undefined) throw new UnknownQueueError(queue);
      lengths.set(queue, status.messages);
      this.#arrivals.add(queue, status.messages);
    }
    this.#tell({ total: [...lengths.values()].reduce((sum, length) => sum + length, 0) });
    for (const [queue, length] of lengths) {
      if (length === 0 || this.#hasEnded) continue;
      const work = this.request.dryRun ? this.#look(queue) : this.#drain(queue, length);
      await lastValueFrom(work.pipe(takeUntil(this.#stopped)), { defaultValue: undefined });
    }
  }

  #look(queue: string): Observable<unknown> {
    return this.letters.replay(queue).pipe(
      concatMap(async (letter) => {
        const address = this.request.where(letter) && letter.addressFor(this.request.to(letter));
        if (address === false || address instanceof Error) this.#leave(address);
        else this.#note(address, {});
      }),
    );
  }

  /** As many letters as lay there at first: what comes back meanwhile is for another redrive. */
  #drain(queue: string, length: number): Observable<unknown> {
    return this.letters.from(queue, { prefetch: inHand, leaveAtMost: Number.MAX_SAFE_INTEGER }).pipe(
      concatMap((letter) => this.#move(letter, queue)),
      take(length),
    );
  }

  async #move(letter: DeadLetter, queue: string): Promise<void> {
    const isWanted = this.request.where(letter);
    const to = isWanted ? this.request.to(letter) : undefined;
    const address = letter.addressFor(to);
    if (isWanted && (await this.#redriven(letter, to)) && !(address instanceof Error)) {
      this.#arrivals.redriven(queue);
      this.#note(address, { redriven: this.current.redriven + 1 });
      return this.#mindCircuit();
    }
    letter.leave();
    this.#leave(isWanted && address);
  }

  #leave(why: unknown): void {
    const { left, unproven = 0 } = this.current;
    this.#tell({ left: left + 1, ...(why instanceof UnprovenOriginError && { unproven: unproven + 1 }) });
  }

  /** Not before its time, and not while it is held up. */
  async #redriven(letter: DeadLetter, to: RedriveTarget): Promise<boolean> {
    const { clock } = this.backend;
    this.#next = Math.max(clock.now(), this.#next);
    await this.#wait(Math.ceil(this.#next - clock.now()));
    this.#next += 1_000 / this.request.perSecond;
    while (this.current.state === 'paused') await this.#wait();
    if (this.#hasEnded || !letter.open) return false;
    return letter.redrive(to).then(
      () => true,
      () => false, // reported by DeadLetters.failures; it is in hand again
    );
  }

  /**
   * When most of what was redriven lately is back, what was down still is. A fast one waits before it looks, for nothing could
   * be back at once; and as that takes a second it redrives twice as many each time.
   */
  async #mindCircuit(): Promise<void> {
    const { circuit, perSecond } = this.request;
    const { redriven } = this.current;
    if (circuit === undefined || redriven < this.#lookAt) return;
    const isFast = perSecond > fast;
    if (isFast) await this.#wait(lookPause);
    if (this.#hasEnded) return;
    const arrived = await this.#arrivals.look();
    const lately = arrived - this.current.arrived;
    const sent = redriven - this.#lookedAt;
    this.#lookedAt = redriven;
    this.#lookAt = redriven + (isFast ? sent * 2 : circuit.atLeast);
    this.#tell({ arrived });
    if (lately < sent * circuit.share || this.current.state !== 'running') return;
    this.#lookAt = redriven + circuit.atLeast;
    this.#tell({ state: 'waiting' });
    await this.#wait(circuit.pause);
    if ((this.current.state as string) === 'waiting') this.#tell({ state: 'running' });
  }

  /** @param milliseconds of the broker's time; without, until it is resumed or stopped */
  #wait(milliseconds?: number): Promise<void> {
    if (milliseconds !== undefined && milliseconds <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const callOff =
        milliseconds === undefined ? undefined : after(this.backend.clock, milliseconds, () => this.#wake?.());
      this.#wake = () => {
        this.#wake = undefined;
        callOff?.();
        resolve();
      };
    });
  }

  #note({ exchange, routingKey }: Address, change: Partial<RedriveProgress>): void {
    const name = `${exchange}/${routingKey}`;
    this.#destinations.set(name, (this.#destinations.get(name) ?? 0) + 1);
    this.#untold++;
    this.#tell(change);
  }

  /** Destinations that were handed out do not change any more. */
  #tell(change: Partial<RedriveProgress>): void {
    const isDue = this.#untold * destinationsPerLetter >= this.#destinations.size;
    if (this.#untold > 0 && (isDue || change.state !== undefined)) {
      this.#untold = 0;
      const destinations = Object.fromEntries(this.#destinations);
      this.#current = { ...this.#current, ...change, destinations };
    } else {
      this.#current = { ...this.#current, ...change };
    }
    this.#progress.next(this.#current);
  }

  #end(state: 'done' | 'stopped' | 'failed', error?: unknown): void {
    if (this.#hasEnded) return;
    this.#tell({ state, ...(error !== undefined && { error }) });
    this.#progress.complete();
    queueMicrotask(() => this.#letters.unsubscribe()); // it may not be there yet
    if (this.request.circuit === undefined || this.current.redriven === 0) return;
    this.#arrivals.watch((arrived) => (this.#current = { ...this.#current, arrived }));
  }
}

/** There is no such queue to redrive from. */
export class UnknownQueueError extends Error {
  override readonly name = 'UnknownQueueError';

  constructor(queue: string) {
    super(`there is no queue '${queue}' to redrive from`);
  }
}
