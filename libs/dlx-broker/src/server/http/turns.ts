import { clientGone } from './reply.js';

/** Pauses of long work, in which the event loop serves other clients. */
export interface Turns {
  /** A monotonic time in milliseconds, with fractions. */
  now(): number;
  /** Resolves after other work of the host. */
  next(): Promise<void>;
}

/** The turns of the event loop. */
export const eventLoop: Turns = {
  now: () => performance.now(),
  next: () => new Promise((resolve) => setImmediate(resolve)),
};

/**
 * The turns of all long work of one API: one piece of work in each turn of the event loop, so that many requests at a
 * time delay other clients no longer than one.
 */
export class SharedTurns implements Turns {
  readonly #waiting: (() => void)[] = [];

  now(): number {
    return performance.now();
  }

  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(this.#go);
    });
  }

  readonly #go = (): void => {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(this.#go);
  };
}

/** The longest turn in milliseconds; then other work of the host runs. */
export const longestTurn = 5;

/**
 * Runs work to its end with pauses.
 * @param work yields wherever it may pause; between two yields it should take well below a millisecond
 * @param signal aborted when the client has gone: the work ends in the next pause
 * @throws Problem 400 if the signal was aborted
 */
export async function inTurns<T>(work: Iterator<void, T, void>, turns: Turns, signal?: AbortSignal): Promise<T> {
  let began = turns.now();
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    if (turns.now() - began < longestTurn) continue;
    await turns.next();
    if (signal?.aborted === true) throw clientGone();
    began = turns.now();
  }
}

/** The characters that are sent in one piece. */
export const pieceSize = 65_536;

/** The response of a stream, which is closed when its client has gone. */
export function untilAborted(
  stream: { readonly body: ReadableStream<Uint8Array>; close(): void },
  signal: AbortSignal,
  headers: Readonly<Record<string, string>>,
): Response {
  signal.addEventListener('abort', () => stream.close());
  if (signal.aborted) stream.close();
  return new Response(stream.body, { headers });
}

interface TextSource {
  /** Yields wherever it may pause, with text if there is some. */
  readonly work: Iterator<string | undefined, void, void>;
  readonly turns: Turns;
  /** Called before each turn. @throws when the user may not read on, which breaks the response off */
  readonly check?: () => void;
  /** Called once, when nothing more is sent. */
  readonly ended?: () => void;
}

/**
 * A response body that is made while its client reads it: the next piece is made when the client has taken the last one. Long work
 * pauses for other work of the host. The client sees a response that breaks off if the work fails.
 */
export class TextStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #source: TextSource;
  #turnBegan: number;
  #isOpen = true;
  /** True if the work has come to its end. */
  #isComplete = false;

  constructor(source: TextSource) {
    this.#source = source;
    this.#turnBegan = source.turns.now();
    this.body = new ReadableStream<Uint8Array>(
      { pull: (controller) => this.#pull(controller), cancel: () => this.close() },
      { highWaterMark: 1 },
    );
  }

  /** Ends the work. A response that is not complete breaks off at its next piece. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#source.work.return?.();
    this.#source.ended?.();
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      const piece = await this.#piece();
      // The end of the response would tell the client that it has everything.
      if (!this.#isOpen && !this.#isComplete) throw new Error('the response ended before its work did');
      if (piece !== '') controller.enqueue(Buffer.from(piece));
      if (this.#isComplete) controller.close();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  #complete(): void {
    this.#isComplete = true;
    this.close();
  }

  /** The next piece; the stream is over if the piece is empty. */
  async #piece(): Promise<string> {
    const { work, turns, check } = this.#source;
    let text = '';
    while (this.#isOpen && text.length < pieceSize) {
      if (turns.now() - this.#turnBegan >= longestTurn) {
        await turns.next();
        this.#turnBegan = turns.now();
        check?.();
        if (!this.#isOpen) break;
      }
      const { done, value } = work.next();
      if (done === true) this.#complete();
      else text += value ?? '';
    }
    return text;
  }
}
