import { Observable, type Subscriber, Subscription } from 'rxjs';
import type { Backend } from '../../backend/index.js';
import { callEach, HomeContext } from '../../host/index.js';
import type { EventLog } from '../event-log.js';
import { tellSubscriber } from '../failure-log.js';
import type { OutcomeEvent } from '../outcome-events.js';
import type { UnknownQueue } from '../unknown-queues.js';
import type { DlxAlert } from './alert.js';
import { checkedWatch, type WatchOptions } from './options.js';
import { SelectedQueues } from './selected-queues.js';
import { Watcher } from './watcher.js';

/** What the watches of a broker look at. */
export interface WatchesParts {
  readonly backend: Backend;
  readonly events: Observable<OutcomeEvent>;
  readonly log: EventLog;
  /** The dead-letter queues of the handlers. */
  readonly queues: () => ReadonlySet<string>;
  /** Those of some names that the application neither consumes nor declares, with a warning. */
  readonly unknown: (names: readonly string[]) => readonly UnknownQueue[];
}

/** The watches of a broker. Without a subscriber none of them runs. */
export class Watches {
  readonly #subscribers = new Set<Subscriber<DlxAlert>>();
  readonly #home = new HomeContext();
  /** The queues that watches name and that were not looked for yet. */
  readonly #named = new Set<string>();
  readonly #warned = new Set<string>();
  #hasStarted = false;
  #hasEnded = false;

  constructor(private readonly parts: WatchesParts) {}

  /** @throws DlxConfigurationError for wrong options */
  watch(options: WatchOptions): Observable<DlxAlert> {
    const checked = checkedWatch(options);
    return new Observable((subscriber) => {
      if (this.#hasEnded) return subscriber.complete();
      const { backend, events, log } = this.parts;
      const watcher = new Watcher({
        backend,
        log,
        queues: new SelectedQueues(checked.queues, this.parts.queues),
        options: checked,
        emit: (alert) => this.#home.fresh(subscriber.next, subscriber, alert),
      });
      this.#subscribers.add(subscriber);
      for (const queue of checked.queues ?? []) if (typeof queue === 'string') this.#named.add(queue);
      if (this.#hasStarted) this.#warn();
      const heard = new Subscription();
      if (watcher.needsEvents) heard.add(events.subscribe((event) => watcher.onEvent(event)));
      this.#home.runInAsyncScope(() => watcher.start());
      return () => {
        watcher.end();
        heard.unsubscribe();
        this.#subscribers.delete(subscriber);
      };
    });
  }

  /** The application has started, with its handlers. From now on the log warns of queues that do not exist, each once. */
  started(): void {
    this.#hasStarted = true;
    this.#warn();
  }

  #warn(): void {
    const names = [...this.#named].filter((queue) => !this.#warned.has(queue));
    this.#named.clear();
    for (const { queue, text } of this.parts.unknown(names)) void this.#warnOf(queue, text);
  }

  async #warnOf(queue: string, text: string): Promise<void> {
    const { backend, log } = this.parts;
    this.#warned.add(queue);
    const isThere = await backend.status(queue).then(
      (status) => status !== undefined,
      () => true,
    );
    if (!isThere && !this.#hasEnded) log.write('watchQueueUnknown', text, { queue });
  }

  /** Completes all of them. */
  end(): void {
    this.#hasEnded = true;
    callEach(this.#subscribers, (subscriber) => subscriber.complete(), tellSubscriber(this.parts.log, 'a watch'));
  }
}
