import type { Clock } from '../../broker/index.js';

/** Milliseconds after which a listener that reads nothing is dropped, and in which it hears something at least. */
const patience = { unread: 30_000, silence: 15_000 };

export interface EventSource {
  readonly clock: Clock;
  /** Milliseconds between two looks. */
  readonly interval: number;
  /** What there is to tell; undefined for nothing new. Asked only when the listener can take it. */
  look(): LiveEvent | undefined;
  /** Whether the listener may still listen. */
  mayListen(): boolean;
  ended(stream: EventStream): void;
}

export interface LiveEvent {
  readonly name: string;
  readonly data: unknown;
}

/**
 * Server-Sent Events for one listener. Nothing is ever buffered: while it has not read the last event nobody looks for
 * a new one, and the next tells everything since. One that does not read at all is dropped.
 */
export class EventStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #source: EventSource;
  readonly #encoder = new TextEncoder();
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

  /** Ends it cleanly. */
  close(): void {
    if (!this.#isOpen) return;
    this.#end();
    this.#controller.close();
  }

  readonly #tick = (): void => {
    const { clock, interval } = this.#source;
    const now = clock.now();
    if (!this.#source.mayListen()) return this.close();
    if ((this.#controller.desiredSize ?? 0) > 0) this.#tell(now);
    else if (now - this.#lastSent >= patience.unread) return this.close();
    clock.wakeAt(now + interval, this.#tick);
  };

  #tell(now: number): void {
    const event = this.#source.look();
    if (event === undefined && now - this.#lastSent < patience.silence) return;
    this.#lastSent = now;
    // Without an event a comment: a connection that is gone is only noticed when something is written to it.
    const text = event === undefined ? ':\n\n' : `event: ${event.name}\ndata: ${JSON.stringify(event.data)}\n\n`;
    this.#controller.enqueue(this.#encoder.encode(text));
  }

  #end(): void {
    this.#isOpen = false;
    this.#source.clock.wakeAt(undefined, this.#tick);
    this.#source.ended(this);
  }
}
