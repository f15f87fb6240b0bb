import { callEach, shownText } from '../../platform/index.js';
import { errorFacts, noError, textOf } from './failure-log.js';
import type { Handler, MessageOrder } from './handler.js';
import type { ConsumerPlan } from './plan.js';
import { type ConsumerParts, QueueConsumer } from './queue-consumer.js';
import { logStopped, logUnclosed } from '../module/shut-down.js';
import { within } from './within.js';

/** How long to wait before a queue that was deleted is declared and consumed again, in milliseconds. */
const restorePause = 1_000;

/** What the consumers of a broker share. */
interface SharedParts extends ConsumerParts {
  /** How long running handlers may take when their consumer stops, in milliseconds. */
  readonly drainTimeout: number;
  /** Declares and consumes the queues again. */
  readonly restore: () => Promise<void>;
}

/** The consumers of a broker, one for each queue. A consumer that the broker ended is restored. */
export class QueueConsumers {
  readonly #running = new Map<string, QueueConsumer>();
  readonly #restoring = new Set<NodeJS.Timeout>();
  #isClosed = false;

  constructor(private readonly parts: SharedParts) {}

  /** The queues that are consumed, or will be again. */
  get queues(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** The number of consumed queues, those whose consumer the broker ended, and the messages that handlers have in hand. */
  get condition(): { readonly count: number; readonly ended: readonly string[]; readonly handling: number } {
    const all = [...this.#running.values()];
    const ended = all.filter(({ running }) => !running).map(({ queue }) => queue);
    return { count: all.length, ended, handling: all.reduce((sum, { atWork }) => sum + atWork, 0) };
  }

  /** The queues whose messages are kept in an order. */
  get orders(): readonly MessageOrder[] {
    return [...this.#running.values()].flatMap(({ order }) => order ?? []);
  }

  /**
   * Starts the consumer of a queue, or gives a running one its new handlers.
   * @returns a promise if the broker answers later; it rejects when the consumer could not start
   */
  start(plan: ConsumerPlan): Promise<void> | undefined {
    const consumer = this.#running.get(plan.queue) ?? new QueueConsumer(plan, this.parts);
    consumer.update(plan);
    this.#running.set(plan.queue, consumer);
    return consumer.running ? undefined : consumer.start((lost, failure) => this.#restoreSoon(lost, failure));
  }

  /** Starts, ends or replaces the consumer of a queue as its gate says. */
  adjust(queue: string): void {
    this.#running.get(queue)?.adjust();
  }

  /** Resolves when no handler of a queue has a message in hand. */
  async idle(queue: string): Promise<void> {
    await this.#running.get(queue)?.idle();
  }

  /** Stops the consumers of handlers. Waits for those at work, no longer than `drainTimeout`. */
  async stopOf(handlers: ReadonlySet<Handler>): Promise<void> {
    await this.#stop([...this.#running.values()].filter((consumer) => consumer.serves(handlers)));
  }

  /** Ends deliveries, also to consumers that the broker has not confirmed yet. No consumer is restored after that. */
  cancel(): void {
    this.#isClosed = true;
    for (const timer of this.#restoring) clearTimeout(timer);
    this.#restoring.clear();
    this.#each(this.#running.values(), (consumer) => consumer.cancel());
  }

  /** Stops all consumers, as {@link stopOf}. @param letters those that streams had unsettled, by queue, for the log */
  async stop(letters: ReadonlyMap<string, number>): Promise<void> {
    await this.#stop([...this.#running.values()], letters);
  }

  async #stop(consumers: readonly QueueConsumer[], letters: ReadonlyMap<string, number> = new Map()): Promise<void> {
    const { drainTimeout, log, settlement } = this.parts;
    this.#each(consumers, (consumer) => consumer.cancel());
    const start = performance.now();
    const atWork = new Map(consumers.map(({ queue, atWork: count }) => [queue, count]));
    const left = new Map<string, number>();
    await within(drainTimeout, Promise.all(consumers.map((consumer) => consumer.idle())));
    this.#each(consumers, (consumer) => {
      this.#running.delete(consumer.queue);
      left.set(consumer.queue, consumer.close());
    });
    if (consumers.length + letters.size > 0) logStopped(log, performance.now() - start, atWork, left, letters);
    settlement.timers.sweep();
  }

  /** The backend may be one of the application, and throw: the other consumers end all the same. */
  #each(consumers: Iterable<QueueConsumer>, call: (consumer: QueueConsumer) => void): void {
    callEach(consumers, call, (error) => logUnclosed(this.parts.log, error));
  }

  /** Restores a consumer after a pause: its queue was deleted, or its node is down. */
  #restoreSoon(consumer: QueueConsumer, failure?: Error): void {
    const { settlement, home, log } = this.parts;
    const queue = shownText(consumer.queue);
    settlement.timers.sweep();
    if (this.#isClosed) return;
    const why = failure === undefined ? '' : ` (${textOf(failure)})`;
    const facts = failure === undefined ? noError : errorFacts(failure);
    const text = `the broker ended the consumer of '${queue}'${why}; it starts again in ${restorePause} ms`;
    log.write('consumerEnded', text, { queue, pause: restorePause, ...facts });
    const restore = (): void => {
      this.#restoring.delete(timer);
      this.parts.restore().catch((error: unknown) => {
        if (this.#isClosed) return;
        const notAgain = `queue '${queue}' cannot be consumed again: ${textOf(error)}`;
        log.write('consumerNotRestored', notAgain, { queue, ...errorFacts(error) });
        this.#restoreSoon(consumer);
      });
    };
    const timer = home.runInAsyncScope(() => setTimeout(restore, restorePause));
    this.#restoring.add(timer);
  }
}
