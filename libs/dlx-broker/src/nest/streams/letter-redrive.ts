import { types } from 'node:util';
import { concatMap, finalize, lastValueFrom, type Observable, Subject, take, takeUntil, takeWhile, tap } from 'rxjs';
import { type Backend, nearestQueue, UnroutableError } from '../../backends/index.js';
import { after } from '../../platform/index.js';
import type { Address } from '../../engine/message/index.js';
import { BatchBreaker, Batches, Pacing, Redrive, RedriveCounts } from '../../server/redrive/index.js';
import { UndecodablePayloadError } from '../../platform/history/index.js';
import { UnprovenOriginError } from '../retry/index.js';
import type { RedriveSpan } from '../tracing/index.js';
import { Arrivals } from './arrivals.js';
import type { ConsumedLetter } from './consumed-letter.js';
import type { DeadLetters } from './dead-letters.js';
import { type Edit, editedLetter, EditRefusedError } from './edit.js';
import type { RedriveTarget } from './given.js';
import { UnknownQueueError } from './letter-errors.js';
import type { Letter } from './letter.js';
import type { ResolvedRedrive } from './redrive-request.js';
import { textOf } from './run-forever.js';

/** The prefetch. Letters that are left stay unsettled, and each further consumer has the same prefetch. */
const inHand = 200;

/** How often the redrive counts returned letters after its end, in milliseconds. */
const pollInterval = 1_000;

/** The redrive of a backend: it consumes each letter, publishes its successor, and acks it. */
export class LetterRedrive extends Redrive {
  /** Letters in the queues at the start. */
  total = 0;
  error: Error | undefined;
  /** Letters that the edit did not change. */
  unedited = 0;
  /** Letters whose destination is in the counts. */
  noted = 0;
  /** Why a letter did not reach its target: the exchange or the queue is missing, or the right to publish to it. */
  #refusal: Error | undefined;
  /** The queues that the caller named as targets, with the error for those that do not exist. */
  readonly #targets = new Map<string, Promise<UnknownQueueError | undefined>>();
  readonly #over = new Subject<void>();
  #span: RedriveSpan | undefined;
  /** Ends a wait. */
  #wake: (() => void) | undefined;
  readonly #arrivals: Arrivals;

  /** @param show called after each change of the state and of the counts */
  constructor(
    private readonly backend: Backend,
    private readonly letters: DeadLetters,
    private readonly request: ResolvedRedrive,
    private readonly show: () => void,
  ) {
    const { circuit, perSecond } = request;
    super({
      clock: backend.clock,
      pacing: new Pacing(perSecond),
      counts: new RedriveCounts(Infinity),
      breaker: circuit && new BatchBreaker(circuit.share, circuit.pause),
      batches: circuit && (Batches.for(perSecond, circuit.atLeast) ?? Batches.steady(circuit.atLeast)),
      pollInterval,
    });
    this.#arrivals = new Arrivals(backend);
  }

  /** Takes letters until the redrive ends. It never throws: see `error`. */
  async run(): Promise<void> {
    this.#span = this.request.dryRun ? undefined : this.letters.tracing?.redrive(this.request.queues);
    try {
      await this.#run();
      if (!this.request.dryRun && this.counts.moved === 0 && this.#refusal !== undefined) throw this.#refusal;
      if (!this.isOver) this.error = this.#refusal;
      this.end('done');
    } catch (error) {
      if (!this.isOver) this.error = asError(error);
      this.end('failed');
    }
    this.#span?.end(this.counts.moved, this.state, this.state === 'failed' ? this.error : undefined);
  }

  protected override get isWatched(): boolean {
    return super.isWatched && this.counts.moved > 0;
  }

  protected override changed(): void {
    this.show();
    if (this.isOver) this.#over.next();
    this.#wake?.();
  }

  protected override returned(count: number): void {
    super.returned(count);
    if (count > 0) this.show();
  }

  /** Nothing is counted when the connection is gone. */
  protected override countReturned(seen: (count: number) => void): void {
    this.#arrivals.count().then(seen, () => this.close());
  }

  async #run(): Promise<void> {
    const lengths = new Map<string, number>();
    for (const queue of this.request.queues) {
      const status = await this.backend.status(queue);
      if (status === undefined) throw new UnknownQueueError(queue, 'from', await nearestQueue(this.backend, queue));
      lengths.set(queue, status.messages);
      this.#arrivals.add(queue, status.messages);
      this.total += status.messages;
    }
    this.show();
    const missing = this.request.dryRun ? undefined : await this.#missing(this.request.target);
    if (missing !== undefined) throw missing;
    for (const [queue, length] of lengths) {
      if (length === 0 || this.isOver || this.#isFull) continue;
      const work = this.request.dryRun ? this.#dryRun(queue) : this.#drain(queue, length);
      await lastValueFrom(work.pipe(takeUntil(this.#over)), { defaultValue: undefined });
    }
  }

  #dryRun(queue: string): Observable<unknown> {
    return this.letters.replay(queue).pipe(
      concatMap(async (letter) => {
        if (!this.request.where(letter)) return this.#leave(false);
        const to = this.request.to(letter);
        const address = letter.addressFor(to);
        if (this.#editOf(letter) === false) return this.#leave(address);
        const missing = await this.#missing(to);
        this.#refusal ??= missing;
        if (missing !== undefined || address instanceof Error) this.#leave(address);
        else this.#note(address);
      }),
      takeWhile(() => !this.#isFull, true),
    );
  }

  /** Takes as many letters as the queue had at the start. Letters that come back meanwhile are not redriven again. */
  #drain(queue: string, length: number): Observable<unknown> {
    // Letters that are taken and not redriven count as returned in a quorum queue.
    const prefetch = Math.min(inHand, length, this.request.limit - this.counts.moved);
    return this.letters.from(queue, { prefetch, leaveAtMost: Number.MAX_SAFE_INTEGER }).pipe(
      tap(() => this.#arrivals.taken(queue)),
      concatMap((letter) => this.#move(letter, queue)),
      take(length),
      takeWhile(() => !this.#isFull, true),
      finalize(() => this.#arrivals.returned(queue)),
    );
  }

  /** True when as many letters as wanted were redriven; in a dry run, when as many have a destination. */
  get #isFull(): boolean {
    return (this.request.dryRun ? this.noted : this.counts.moved) >= this.request.limit;
  }

  async #move(letter: ConsumedLetter, queue: string): Promise<void> {
    letter.untraced();
    const isWanted = this.request.where(letter);
    const to = isWanted ? this.request.to(letter) : undefined;
    const address = letter.addressFor(to);
    const edit = isWanted && this.#editOf(letter, (failure) => letter.report(failure));
    if (edit !== false && (await this.#redrive(letter, to, edit)) && !(address instanceof Error)) {
      this.#arrivals.redriven(queue);
      this.counts.moved++;
      this.#span?.moved(letter.message);
      this.#note(address);
      if (this.redriven(this.backend.clock.now())) await this.#judge();
      return;
    }
    letter.leave();
    this.#leave(isWanted && address);
  }

  /**
   * What is changed in a letter; undefined if the redrive changes nothing.
   * @param report gets what the function of the application throws
   * @returns false: the letter stays
   */
  #editOf(letter: Letter, report?: (failure: unknown) => void): Edit | undefined | false {
    const { edit } = this.request;
    if (edit === undefined) return undefined;
    try {
      const made = edit(letter);
      if (made !== undefined) {
        checkEdit(letter, made);
        return made;
      }
    } catch (failure) {
      if (!(failure instanceof EditRefusedError && failure.isUnchanged)) {
        if (!this.request.dryRun) this.#refusal ??= asError(failure);
        report?.(failure);
      }
    }
    this.unedited++;
    return false;
  }

  #note({ exchange, routingKey }: Address): void {
    this.counts.arrived([`${exchange}/${routingKey}`]);
    this.noted++;
    this.show();
  }

  #leave(why: unknown): void {
    this.counts.left++;
    if (why instanceof UnprovenOriginError) this.counts.unproven++;
    this.show();
  }

  /** Redrives a letter when it is due and the redrive is running. @returns false when the letter stays in its queue */
  async #redrive(letter: ConsumedLetter, to: RedriveTarget, edit: Edit | undefined): Promise<boolean> {
    const { clock } = this.backend;
    const due = this.rules.pacing.take(clock.now());
    const target = to === undefined ? letter.workQueue : typeof to === 'string' ? to : undefined;
    for (;;) {
      if (target !== undefined && (await this.#isTargetClosed(letter, target))) continue;
      const wait = this.state === 'running' ? Math.ceil(due - clock.now()) : undefined;
      if (this.isOver || !letter.open) return false;
      if (wait !== undefined && wait <= 0) break;
      await this.#wait(wait);
    }
    return letter.redrive(to, edit).then(
      () => true,
      (failure: Error) => this.#failed(failure, to),
    );
  }

  /** Waits a moment while the handlers of the target get no messages, because their circuit is open. @returns false if they do */
  async #isTargetClosed(letter: ConsumedLetter, target: string): Promise<boolean> {
    const reason = this.isOver || !letter.open ? undefined : this.letters.obstacleOf?.(target);
    if (reason === undefined) {
      this.targetIsReady();
      return false;
    }
    this.waitForTarget(reason);
    await this.#wait(pollInterval);
    return true;
  }

  /** The error for a queue that the caller named as a target and that does not exist. */
  #missing(to: RedriveTarget): Promise<UnknownQueueError | undefined> | undefined {
    const queue = queueIn(to);
    if (queue === undefined) return undefined;
    const known = this.#targets.get(queue) ?? this.#look(queue);
    this.#targets.set(queue, known);
    return known;
  }

  /** Where the status cannot be read, the broker answers to the publish. */
  async #look(queue: string): Promise<UnknownQueueError | undefined> {
    const isThere = await this.backend.status(queue).then(
      (status) => status !== undefined,
      () => true,
    );
    return isThere ? undefined : new UnknownQueueError(queue, 'to', await nearestQueue(this.backend, queue));
  }

  /**
   * Notes the failure of a letter. The letter is unsettled again, and `DeadLetters.failures` reports it.
   * @returns false: the letter stays in its queue
   * @throws the failure, when the caller named a target that no letter can reach
   */
  async #failed(failure: Error, to: RedriveTarget): Promise<false> {
    const queue = failure instanceof UnroutableError ? queueIn(to) : undefined;
    if (queue !== undefined) this.#refusal ??= await this.#look(queue);
    if (!isRefusal(failure)) return false;
    if (to !== undefined) throw failure;
    this.#refusal = failure;
    return false;
  }

  /** At the end of a batch: waits for its pause, then the circuit judges the letters that came back. */
  async #judge(): Promise<void> {
    const { batches } = this.rules;
    const wait = (batches?.next ?? 0) - this.backend.clock.now();
    if (wait > 0) await this.#wait(wait);
    if (this.isOver) return;
    this.returned(await this.#arrivals.count());
    while (this.state === 'waiting') await this.#wait();
  }

  /** Waits for a change of the state. @param milliseconds the longest wait, by the broker's clock; by default there is none */
  #wait(milliseconds?: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel =
        milliseconds === undefined ? undefined : after(this.backend.clock, milliseconds, () => this.#wake?.());
      this.#wake = () => {
        this.#wake = undefined;
        cancel?.();
        resolve();
      };
    });
  }
}

/** A function that reads the payload of a letter cannot have read this one. @throws EditRefusedError */
function checkEdit({ message, payload }: Letter, edit: Edit): void {
  const isRead = edit.payload !== undefined && !(edit.payload instanceof Uint8Array);
  if (isRead && payload instanceof UndecodablePayloadError) throw new EditRefusedError(payload.message);
  editedLetter(message, edit, 0);
}

/** True for a missing exchange (404), and a missing right to publish to it (403). The text names the exchange. */
const isRefusal = (failure: Error): boolean => {
  const { code } = failure as { readonly code?: unknown };
  return code === 404 || code === 403;
};

/** The error itself; an error with its text for another value that a function of the application threw. */
function asError(thrown: unknown): Error {
  try {
    if (thrown instanceof Error || types.isNativeError(thrown)) return thrown; // the second is true in another realm
  } catch {
    // A proxy may throw when it is asked for its prototype.
  }
  return new Error(textOf(thrown));
}

/** The queue to which a target leads by its name. */
const queueIn = (to: RedriveTarget): string | undefined =>
  typeof to === 'string' ? to : to?.exchange === '' ? to.routingKey : undefined;
