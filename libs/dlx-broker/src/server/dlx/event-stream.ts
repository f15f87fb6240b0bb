import type { Clock } from '../../engine/broker/index.js';
import { jsonPieces } from '../http/json.js';

/**
 * The milliseconds after which a client that reads nothing is disconnected, and the longest time between two events.
 */
const timeouts = { unread: 30_000, silence: 15_000 };

export interface EventSource {
  readonly clock: Clock;
  /** The milliseconds between two events. */
  readonly interval: number;
  /**
   * Makes the next event; undefined if nothing has changed. It is called only when the client has read the last event.
   */
  nextEvent(): LiveEvent | undefined;
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
 * and has all changes since. A client that reads nothing is disconnected.
 */
export class EventStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #source: EventSource;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #lastSent: number;
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
    if ((this.#controller.desiredSize ?? 0) > 0) this.#send(eventText(this.#source), now);
    else if (now - this.#lastSent >= timeouts.unread) return this.close();
    clock.wakeAt(now + interval, this.#tick);
  };

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

/** The next event as bytes; undefined if nothing has changed. */
function eventText(source: EventSource): Buffer | undefined {
  const event = source.nextEvent();
  if (event === undefined) return undefined;
  return Buffer.from(`event: ${event.name}\ndata: ${[...jsonPieces(event.data)].join('')}\n\n`);
}
