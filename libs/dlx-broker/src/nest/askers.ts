import type { Backend } from '../backend/index.js';
import { watchAsker } from './asker.js';

/** An answer of many values, while it goes on. */
export interface OpenAnswer {
  readonly replyTo: string;
  readonly correlationId: string | undefined;
  /** Its index among the answers that are not watched yet, which {@link Askers} keeps. -1: it is not one of them. */
  slot: number;
  /** No client waits for the answer any more. */
  gone(): void;
  /** Runs what begins the watch, in the async context of the message. */
  inOwnContext(begin: () => void): void;
  /** Takes what ends the watch. */
  watched(unwatch: () => void): void;
}

/**
 * Watches the clients that wait for answers which go on. Most answers end soon, and a watch costs about as much as the
 * request itself: an answer is watched only once it is older than a turn of the event loop.
 */
export class Askers {
  /** An array and no Map: the tables that a Map has outgrown keep their answers alive until a full collection. */
  readonly #young: OpenAnswer[] = [];
  #isScheduled = false;

  constructor(private readonly backend: Backend) {}

  /** The answer's `gone` is called when no client waits for it, unless the answer has left by then. */
  add(answer: OpenAnswer): void {
    answer.slot = this.#young.push(answer) - 1;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#watch());
  }

  /** The answer has ended before it was watched. */
  leave(answer: OpenAnswer): void {
    if (answer.slot < 0) return;
    const last = this.#young.pop()!;
    if (last !== answer) {
      this.#young[answer.slot] = last;
      last.slot = answer.slot;
    }
    answer.slot = -1;
  }

  #watch(): void {
    this.#isScheduled = false;
    const answers = this.#young.splice(0);
    for (const answer of answers) answer.slot = -1;
    for (const answer of answers) {
      answer.inOwnContext(() => {
        const { replyTo, correlationId } = answer;
        answer.watched(watchAsker(this.backend, replyTo, correlationId, () => answer.gone()));
      });
    }
  }
}
