/** Something that gathers output until the turn of the event loop is over. */
export interface Flushable {
  flush(): void;
}

/** Flushes the connections that have output, once a turn: after the input of all sockets was handled. */
export class Flusher {
  #waiting: Flushable[] = [];
  #isSet = false;

  /** @param later calls back when the turn is over */
  constructor(private readonly later: (act: () => void) => void) {}

  schedule(flushable: Flushable): void {
    this.#waiting.push(flushable);
    if (this.#isSet) return;
    this.#isSet = true;
    this.later(this.#flush);
  }

  readonly #flush = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#isSet = false;
    for (const flushable of waiting) flushable.flush();
  };
}
