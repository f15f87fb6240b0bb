import type { Clock } from '../../broker/index.js';
import { writtenJson } from '../http/json.js';
import { longestTurn, type Turns } from '../http/turns.js';

/**
 * The milliseconds after which a client that reads nothing is disconnected, and the longest time between two events.
 */
const timeouts = { unread: 30_000, silence: 15_000 };

export interface EventSource {
  readonly clock: Clock;
  readonly turns: Turns;
  /** The milliseconds between two events. */
  readonly interval: number;
  /**
   * Makes the next event; undefined if nothing has changed. It is called only when the client has read the last event.
   * Yields wherever it may pause.
   */
  nextEvent(): Generator<void, LiveEvent | undefined, void>;
  /** True while the user may read events. */
  mayListen(): boolean;
  ended(stream: EventStream): void;
}

export interface LiveEvent {
  readonly name: string;
  /** The event as JSON; long lists are `Rows`. */
  readonly data: unknown;
}

/**
 * Server-Sent Events for one client. Nothing is buffered: the next event is made when the client has read the last one,
 * and has all changes since. A client that reads nothing is disconnected. A long event is made in turns.
 */
export class EventStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #source: EventSource;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #lastSent: number;
  /** The event that is being made. */
  #work: Iterator<void, Buffer | undefined, void> | undefined;
  #isOpen = true;

  constructor(source: EventSource) {
    this.#source = source;
    this.#lastSent = source.clock.now();
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#controller = controller),
        cancel: () => this.#end(),
      },
      { highWaterMark: 1 },
    );
    this.#tick();
  }

  /** Ends the response. */
  close(): void {
    if (!this.#isOpen) return;
    this.#end();
    this.#controller.close();
  }

  readonly #tick = (): void => {
    const { clock, interval } = this.#source;
    const now = clock.now();
    if (!this.#source.mayListen()) return this.close();
    if ((this.#controller.desiredSize ?? 0) > 0) this.#begin(now);
    else if (now - this.#lastSent >= timeouts.unread) return this.close();
    clock.wakeAt(now + interval, this.#tick);
  };

  /** Begins the next event, unless the last one is still being made. */
  #begin(now: number): void {
    if (this.#work !== undefined) return;
    this.#continue((this.#work = eventText(this.#source)), now);
  }

  /** Works on an event for one turn. A short event is sent before this returns. */
  #continue(work: Iterator<void, Buffer | undefined, void>, began: number): void {
    const { turns } = this.#source;
    const start = turns.now();
    let step = work.next();
    while (step.done !== true && turns.now() - start < longestTurn) step = work.next();
    if (step.done === true) {
      this.#work = undefined;
      return this.#send(step.value, began);
    }
    void turns.next().then(() => {
      if (!this.#isOpen) return;
      if (!this.#source.mayListen()) this.close();
      else this.#continue(work, began);
    });
  }

  #send(event: Buffer | undefined, now: number): void {
    if (event === undefined && now - this.#lastSent < timeouts.silence) return;
    this.#lastSent = now;
    // Without an event a comment is sent, because only a write detects a lost connection.
    this.#controller.enqueue(event ?? Buffer.from(':\n\n'));
  }

  #end(): void {
    this.#isOpen = false;
    this.#source.clock.wakeAt(undefined, this.#tick);
    this.#source.ended(this);
  }
}

/** The next event as bytes; undefined if nothing has changed. Yields wherever it may pause. */
function* eventText(source: EventSource): Generator<void, Buffer | undefined, void> {
  const event = yield* source.nextEvent();
  if (event === undefined) return undefined;
  const { pieces } = yield* writtenJson(event.data, Infinity);
  return Buffer.concat([Buffer.from(`event: ${event.name}\ndata: `), ...pieces, Buffer.from('\n\n')]);
}
