/** A first-in-first-out list of numbers in one array, which is used again. */
export class NumberList {
  #numbers = new Uint32Array(256);
  #first = 0;
  #end = 0;

  get length(): number {
    return this.#end - this.#first;
  }

  push(number: number): void {
    if (this.#end === this.#numbers.length) this.#makeRoom();
    this.#numbers[this.#end++] = number;
  }

  at(index: number): number {
    return this.#numbers[this.#first + index] as number;
  }

  /** Removes numbers from the front. */
  drop(count: number): void {
    this.#first += count;
    if (this.#first >= this.#end) this.clear();
  }

  clear(): void {
    this.#first = 0;
    this.#end = 0;
    if (this.#numbers.length > 65_536) this.#numbers = new Uint32Array(256);
  }

  #makeRoom(): void {
    const { length } = this;
    const isHalfEmpty = this.#first > this.#numbers.length / 2;
    const numbers = isHalfEmpty ? this.#numbers : new Uint32Array(this.#numbers.length * 2);
    numbers.set(this.#numbers.subarray(this.#first, this.#end));
    this.#numbers = numbers;
    this.#first = 0;
    this.#end = length;
  }
}
