import type { Backend } from '../backend/index.js';
import { watchAsker } from './asker.js';

/** An answer of many values, while it goes on. */
export interface AnswerStream {
  /** No client waits for the answer any more. */
  gone(): void;
  /** A value could not be sent: no more are wanted. */
  faulty(failure: Error): void;
  /** Runs what begins the watch, in the async context of the message. */
  watched(watch: () => void): void;
}

/** Where an answer goes. */
interface Request {
  readonly replyTo: string;
  readonly correlationId: string | undefined;
}

/**
 * Watches the clients that wait for answers which go on. Most answers end soon, and a watch costs about as much as the
 * request itself: an answer is watched only once it is older than a turn of the event loop.
 */
export class Askers {
  readonly #young = new Map<Request, AnswerStream>();
  readonly #watches = new Map<Request, () => void>();
  #isScheduled = false;

  constructor(private readonly backend: Backend) {}

  /** The stream's `gone` is called when no client waits for the answer, until the request is deleted. */
  add(request: Request, stream: AnswerStream): void {
    this.#young.set(request, stream);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#watch());
  }

  delete(request: Request): void {
    if (this.#young.delete(request) || this.#watches.size === 0) return;
    const unwatch = this.#watches.get(request);
    this.#watches.delete(request);
    unwatch?.();
  }

  #watch(): void {
    this.#isScheduled = false;
    for (const [request, stream] of this.#young) {
      this.#young.delete(request);
      stream.watched(() => {
        let isGone = false;
        const unwatch = watchAsker(this.backend, request.replyTo, request.correlationId, () => {
          isGone = true;
          stream.gone();
        });
        // The client may be gone already, and the watch over before it began.
        if (!isGone) this.#watches.set(request, unwatch);
      });
    }
  }
}
