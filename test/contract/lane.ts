/** A road for many at once, or for one alone: who waits to be alone waits for all others, and they for it. */
export class Lane {
  #sharing = 0;
  #waiting: { readonly alone: boolean; readonly go: () => void }[] = [];
  #alone = false;

  constructor(readonly width: number) {}

  shared<T>(run: () => Promise<T>): Promise<T> {
    return this.#enter(false, run);
  }

  alone<T>(run: () => Promise<T>): Promise<T> {
    return this.#enter(true, run);
  }

  async #enter<T>(alone: boolean, run: () => Promise<T>): Promise<T> {
    await new Promise<void>((go) => {
      this.#waiting.push({ alone, go });
      this.#next();
    });
    try {
      return await run();
    } finally {
      if (alone) this.#alone = false;
      else this.#sharing--;
      this.#next();
    }
  }

  #next(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      if (this.#alone || (first.alone ? this.#sharing > 0 : this.#sharing >= this.width)) return;
      this.#waiting.shift();
      if (first.alone) this.#alone = true;
      else this.#sharing++;
      first.go();
    }
  }
}
