/** Numbers in a row that is used again and again. */
export class NumberList {
  #numbers = new Uint32Array(256);
  length = 0;

  push(number: number): void {
    if (this.length === this.#numbers.length) {
      const grown = new Uint32Array(this.length * 2);
      grown.set(this.#numbers);
      this.#numbers = grown;
    }
    this.#numbers[this.length++] = number;
  }

  at(index: number): number {
    return this.#numbers[index] as number;
  }

  /** Leaves out what no longer fits. */
  keep(fits: (number: number) => boolean): void {
    let kept = 0;
    for (let index = 0; index < this.length; index++) {
      const number = this.#numbers[index] as number;
      if (fits(number)) this.#numbers[kept++] = number;
    }
    this.length = kept;
  }

  clear(): void {
    this.length = 0;
    if (this.#numbers.length > 65_536) this.#numbers = new Uint32Array(256);
  }
}
