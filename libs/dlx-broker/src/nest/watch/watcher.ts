import { type Backend, need, type OldestLetter } from '../../backend/index.js';
import { deadSince, fingerprintIn } from '../../history/index.js';
import { after, shownText } from '../../host/index.js';
import type { EventLog } from '../event-log.js';
import { errorFacts, textOf } from '../failure-log.js';
import type { OutcomeEvent } from '../outcome-events.js';
import type { DlxAlert } from './alert.js';
import { KnownFingerprints } from './fingerprints.js';
import { oldestAge } from './oldest-age.js';
import type { ResolvedWatch } from './options.js';
import { LateAnswerError, Patience } from './patience.js';
import { listOnce, mostQueues, type SelectedQueues } from './selected-queues.js';
import { type Found, nothingKnown, WatchedQueue } from './watched-queue.js';

/** The most messages that one look at all queues looks at for their ages. The next one goes on. */
const mostInLook = 100_000;

/** The most messages of a queue, and of all queues, whose fingerprints are remembered at the first look. */
const mostRead = 1_000;
const mostReadInLook = 20_000;

/** What a watch works with. */
export interface WatcherParts {
  readonly backend: Backend;
  readonly log: EventLog;
  readonly queues: SelectedQueues;
  readonly options: ResolvedWatch;
  readonly emit: (alert: DlxAlert) => void;
}

/** Looks at queues at intervals, for one subscriber. */
export class Watcher {
  readonly #watched = new Map<string, WatchedQueue>();
  readonly #known = new KnownFingerprints();
  /** What this process parked in each queue since the subscription. */
  readonly #parked = new Map<string, number>();
  readonly #logged = new Set<string>();
  readonly #patience: Patience;
  /** The queues of which the server answered late. They are asked about last. */
  readonly #late = new Set<string>();
  #cancelTimer: (() => void) | undefined;
  #lastLook: number | undefined;
  #isLooking = false;
  #hasEnded = false;

  constructor(private readonly parts: WatcherParts) {
    this.#patience = new Patience(parts.backend.clock);
  }

  /** True if it needs the events of parked messages: for their fingerprints, or where the backend does not count arrivals. */
  get needsEvents(): boolean {
    const { options, backend } = this.parts;
    return options.newFingerprint || (options.perMinute !== undefined && backend.browsing?.isLocal !== true);
  }

  /** Looks now, and then at intervals. */
  start(): void {
    const { backend, options } = this.parts;
    this.#cancelTimer = after(backend.clock, options.every, () => this.start());
    if (this.#isLooking) return;
    this.#isLooking = true;
    void this.#look()
      .catch((error: unknown) => this.#unknown(error))
      .finally(() => (this.#isLooking = false));
  }

  end(): void {
    this.#hasEnded = true;
    this.#cancelTimer?.();
    this.#patience.end();
  }

  onEvent({ kind, to, fingerprint, at }: OutcomeEvent): void {
    const { queues, options } = this.parts;
    if (kind !== 'parked' || to === undefined || !queues.has(to)) return;
    const watched = this.#of(to);
    if (watched === undefined) return;
    this.#parked.set(to, (this.#parked.get(to) ?? 0) + 1);
    if (!options.newFingerprint || fingerprint === undefined || !this.#known.add(to, fingerprint)) return;
    watched.newFingerprint(fingerprint, at);
  }

  async #look(): Promise<void> {
    const { backend } = this.parts;
    if (!this.#isConnected) return this.#unknown(undefined);
    const list = listOnce(backend, (call) => this.#ask('names', call));
    for (const name of await this.#names(list)) {
      if (this.#hasEnded) return;
      const watched = this.#of(name);
      if (watched === undefined) continue;
      const found = await this.#find(watched, list).catch((error: unknown) => {
        if (error instanceof LateAnswerError && error.isOwn) this.#late.add(name);
        this.#logOnce('a look', name, error);
        return nothingKnown;
      });
      watched.judge(found, backend.clock.now());
      if (!this.#isConnected) return; // each of the other queues would wait for the connection
    }
    this.#lastLook = backend.clock.now();
  }

  /** The queues of a look, those of which the server answered late at the end. Without a list of the server, those that are known. */
  async #names(list: ReturnType<typeof listOnce>): Promise<ReadonlySet<string>> {
    const { queues } = this.parts;
    const known = [...this.#watched.values()];
    let names: Set<string>;
    try {
      names = queues.among(queues.hasPatterns ? await list() : undefined);
      for (const { name, isRaised } of known) {
        if (names.has(name)) continue;
        if (isRaised) names.add(name);
        else this.#forget(name);
      }
    } catch (error) {
      this.#logOnce('a list of queues', '', error);
      names = new Set([...known.map(({ name }) => name), ...queues.among(undefined)]);
    }
    for (const name of this.#late) if (names.delete(name)) names.add(name);
    return names;
  }

  async #find(watched: WatchedQueue, list: ReturnType<typeof listOnce>): Promise<Found> {
    const { backend, options } = this.parts;
    const { name } = watched;
    const status = await this.#ask(`queue ${name}`, () => backend.status(name));
    this.#late.delete(name);
    if (status === undefined) {
      // A server may say so of a queue whose node is down. Only a list of all queues shows that it was deleted.
      const isGone = (await list())?.has(name) === false;
      return isGone ? { messages: 0, age: { value: 0 }, arrivals: 0 } : nothingKnown;
    }
    const { unacknowledged = 0, arrivals = this.#parked.get(name) ?? 0 } = status;
    const messages = status.messages + unacknowledged;
    if (options.newFingerprint && !watched.isRead) await this.#read(watched, status.messages);
    const oldest = options.olderThan === undefined ? undefined : await this.#oldest(name, status.messages);
    const age = oldest && oldestAge(oldest, status.messages, unacknowledged, backend.clock.now());
    return { messages, age, arrivals };
  }

  get #isConnected(): boolean {
    const { kind } = this.parts.backend.state;
    return kind === 'ready' || kind === 'blocked';
  }

  /** Asks the backend, and waits for a server no longer than {@link Patience} allows. */
  #ask<T>(subject: string, call: () => Promise<T>): Promise<T> {
    return this.parts.backend.browsing?.isLocal === true ? call() : this.#patience.ask(subject, call);
  }

  /** @param length the ready messages of the queue */
  async #oldest(name: string, length: number): Promise<OldestLetter | undefined> {
    if (length === 0) return { time: undefined, isPart: false };
    try {
      const browsing = need(this.parts.backend, 'browsing');
      const most = Math.ceil(mostInLook / this.#watched.size);
      return await this.#ask('ages', () => browsing.oldest(name, deadSince, most));
    } catch (error) {
      this.#logOnce('olderThan', name, error);
      return undefined;
    }
  }

  /** Remembers the fingerprints of the first messages of a queue in this process, when it is looked at for the first time. */
  async #read(watched: WatchedQueue, length: number): Promise<void> {
    const { browsing } = this.parts.backend;
    if (browsing?.isLocal !== true) return;
    const most = Math.min(mostRead, Math.ceil(mostReadInLook / this.#watched.size));
    const page = length === 0 ? undefined : await browsing.browse(watched.name, most);
    watched.isRead = true;
    for (const message of page?.messages ?? []) {
      const fingerprint = fingerprintIn(message);
      if (fingerprint !== undefined) this.#known.add(watched.name, fingerprint);
    }
  }

  #of(name: string): WatchedQueue | undefined {
    const known = this.#watched.get(name);
    if (known !== undefined) return known;
    if (this.#watched.size >= mostQueues) {
      this.#logOnce(
        'queues',
        name,
        new RangeError(`there are more than ${mostQueues} queues; further ones are not watched`),
      );
      return undefined;
    }
    const watched = new WatchedQueue(name, this.parts.options, this.parts.emit);
    // A queue that was declared since the last look was empty then.
    if (this.#lastLook !== undefined) watched.begin(0, this.#lastLook);
    this.#watched.set(name, watched);
    return watched;
  }

  #forget(name: string): void {
    this.#watched.delete(name);
    this.#late.delete(name);
    this.#parked.delete(name);
  }

  /** Nothing can be measured now: no alert is cleared because of that. */
  #unknown(error: unknown): void {
    if (error !== undefined) this.#logOnce('a look', '', error);
    const now = this.parts.backend.clock.now();
    for (const watched of this.#watched.values()) watched.judge(nothingKnown, now);
  }

  #logOnce(what: string, queue: string, error: unknown): void {
    if (this.#hasEnded || this.#logged.has(what)) return;
    this.#logged.add(what);
    const place = queue === '' ? '' : ` of queue '${shownText(queue)}'`;
    const text = `watch(): ${what}${place} is unknown: ${textOf(error)}; this is logged once`;
    this.parts.log.write('watchLimited', text, { queue, ...errorFacts(error) });
  }
}
