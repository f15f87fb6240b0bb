import type { Observable, Subscription } from 'rxjs';
import type { OutcomeEvent } from '../index.js';

/** An event of a test, with its time. */
interface Moment {
  readonly at: number;
  readonly kind: string;
  readonly queue: string;
  readonly about: string;
}

/** The events of a test, in order. A failed expectation shows them. */
export class Timeline {
  readonly #moments: Moment[] = [];
  readonly #watching: Subscription[] = [];

  /** @param start milliseconds since 1970 from which times are counted */
  constructor(private readonly start: number) {}

  watch(events: Observable<OutcomeEvent>): void {
    this.#watching.push(events.subscribe((event) => this.#moments.push({ ...event, about: aboutOf(event) })));
  }

  /** Records a publish of the test itself. */
  published(at: number, queue: string, about: string): void {
    this.#moments.push({ at, kind: 'published', queue, about });
  }

  end(): void {
    for (const watching of this.#watching.splice(0)) watching.unsubscribe();
  }

  /** The outcomes of the messages of a queue, in order: `delivered`, `retried`, `acked` ... */
  outcomesOf(queue: string): readonly string[] {
    const ofQueue = this.#moments.filter((moment) => moment.queue === queue && moment.kind !== 'published');
    return ofQueue.map(({ kind }) => kind);
  }

  toString(): string {
    if (this.#moments.length === 0) return '  nothing happened';
    const width = (of: (moment: Moment) => string): number => Math.max(...this.#moments.map((one) => of(one).length));
    const time = ({ at }: Moment): string => `+${at - this.start} ms`;
    const [times, kinds, queues] = [width(time), width(({ kind }) => kind), width(({ queue }) => queue)];
    return this.#moments
      .map((moment) => {
        const { kind, queue, about } = moment;
        const line = `  ${time(moment).padStart(times)}  ${kind.padEnd(kinds)}  ${queue.padEnd(queues)}  ${about}`;
        return line.trimEnd();
      })
      .join('\n');
  }
}

function aboutOf({ handler, attempt, delay, to, error }: OutcomeEvent): string {
  return [
    handler,
    attempt === undefined ? undefined : `attempt ${attempt}`,
    delay === undefined ? undefined : `again in ${delay} ms`,
    to === undefined ? undefined : `to ${to}`,
    reasonOf(error),
  ]
    .filter((part) => part !== undefined)
    .join(', ');
}

function reasonOf(error: unknown): string | undefined {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : undefined;
  } catch {
    return 'an error that cannot be read';
  }
}
