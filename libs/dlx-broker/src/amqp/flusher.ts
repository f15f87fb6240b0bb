/** Something that gathers output until the turn of the event loop is over. */
export interface Flushable {
  flush(): void;
}

/** Flushes whoever asked for it, once per turn: after all sockets that had something to read. */
export class Flusher {
  #waiting: Flushable[] = [];
  #isSet = false;

  want(flushable: Flushable): void {
    this.#waiting.push(flushable);
    if (this.#isSet) return;
    this.#isSet = true;
    setImmediate(this.#flush);
  }

  readonly #flush = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#isSet = false;
    for (const flushable of waiting) flushable.flush();
  };
}
