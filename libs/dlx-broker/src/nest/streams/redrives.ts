import { concatMap, lastValueFrom, Observable, repeat, Subscription } from 'rxjs';
import type { Backend } from '../../backends/index.js';
import { callEach, doNothing } from '../../platform/index.js';
import { duration } from '../../platform/options/index.js';
import type { DeadLetters } from './dead-letters.js';
import { type RedriveRequest, resolveRedrive } from './redrive-request.js';
import { type RedriveProgress, RedriveTask } from './redrive-task.js';
import { clockTimer, textOf } from './run-forever.js';

/** The shortest pause of a schedule, in milliseconds. */
const leastPause = 1_000;

/** The most different errors of a schedule that are logged. */
const mostErrors = 100;

/** Redrives dead or parked letters to their origin, in the order of their queue. */
export class Redrives {
  readonly #running = new Set<RedriveTask>();
  /** Ended redrives that still count letters that come back. */
  #ended: RedriveTask[] = [];
  #closed = false;
  readonly #schedules = new Subscription();

  /**
   * @internal Made by DlxBrokerModule.
   * @param report called with what the function `observe` of a schedule throws
   * @param thrown called with what a subscriber of a task throws
   * @param failed called with the error of a redrive of a schedule that failed, and its queues; not again for the same error until a
   *   redrive of the schedule succeeds
   */
  constructor(
    private readonly backend: Backend,
    private readonly letters: DeadLetters,
    private readonly report: (failure: unknown) => void = doNothing,
    private readonly thrown: (failure: unknown) => void = doNothing,
    private readonly failed: (failure: unknown, queues: readonly string[]) => void = doNothing,
  ) {}

  /** The redrives that have not ended. */
  get running(): readonly RedriveTask[] {
    return [...this.#running];
  }

  /**
   * Begins a redrive at once. Each letter is published as mandatory, and leaves its queue when the broker has taken its successor. A
   * letter that no queue would get stays. A redrive to a queue that does not exist fails. After the end of the application the redrive is
   * cancelled at once.
   * @throws DlxConfigurationError for an impossible request
   */
  start<T = unknown>(request: RedriveRequest<T>): RedriveTask {
    const task = new RedriveTask(this.backend, this.letters, resolveRedrive(request), this.thrown);
    this.#running.add(task);
    void task.ended.then(() => this.#retire(task));
    if (this.#closed) task.close();
    return task;
  }

  /**
   * Counts letters and destinations, and moves nothing.
   * @throws what {@link start} throws, UnknownQueueError when there is no queue `from`. Letters to a queue that does not exist are left
   */
  async dryRun<T = unknown>(request: RedriveRequest<T>): Promise<RedriveProgress> {
    const result = await this.start({ ...request, dryRun: true }).ended;
    if (result.state === 'failed') throw result.error;
    return result;
  }

  /**
   * Redrives repeatedly: first after `every`, and then each time `every` after the end of the redrive before.
   * @param every milliseconds, at least 1,000, or a string such as `'15m'`
   * A redrive that fails is logged, once for each error until one succeeds.
   * @param observe called with every task when it begins; an error that it throws is logged, and the schedule continues
   * @returns unsubscribe it to end the schedule and the redrive under way; both end with the application as well
   */
  every<T = unknown>(
    every: number | string,
    request: RedriveRequest<T>,
    observe: (task: RedriveTask) => void = doNothing,
  ): Subscription {
    const pause = duration(leastPause).read(every, 'Redrives.every').value as number;
    const { queues } = resolveRedrive(request); // an invalid request is refused now, and not at the first redrive
    const known = new Set<string>();
    const { clock } = this.backend;
    const once = new Observable<RedriveProgress>((subscriber) => {
      const task = this.start(request);
      callEach([task], observe, this.report);
      void task.ended.then((result) => this.#note(result, queues, known));
      subscriber.add(() => task.cancel());
      return task.progress.subscribe(subscriber);
    });
    const turn = new Observable<void>((subscriber) => clockTimer(clock, clock.now() + pause).subscribe(subscriber));
    if (this.#closed) return Subscription.EMPTY;
    const schedule = turn
      .pipe(
        concatMap(() => once),
        repeat(),
      )
      .subscribe();
    this.#schedules.add(schedule);
    return schedule;
  }

  /** @param known the errors of the schedule since a redrive succeeded */
  #note({ state, error }: RedriveProgress, queues: readonly string[], known: Set<string>): void {
    if (state === 'done') known.clear();
    if (state !== 'failed' || known.size >= mostErrors) return;
    const text = textOf(error);
    if (known.has(text)) return;
    known.add(text);
    this.failed(error, queues);
  }

  #retire(task: RedriveTask): void {
    this.#running.delete(task);
    const now = this.backend.clock.now();
    this.#ended = this.#ended.filter(({ watchedUntil }) => (watchedUntil?.getTime() ?? 0) > now);
    if (this.#closed) task.close();
    else this.#ended.push(task);
  }

  /** Ends all redrives, their watches and all schedules. None begins after that. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#schedules.unsubscribe();
    const tasks = this.running;
    for (const task of [...tasks, ...this.#ended]) task.close();
    await Promise.all(tasks.map((task) => lastValueFrom(task.progress)));
  }
}
