/** A double-ended queue in a ring buffer: push and shift cost the same at any length, unlike `Array.shift`. */
export class Deque<T> {
  #slots: (T | undefined)[] = new Array<T | undefined>(8);
  #head = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: T): void {
    if (this.#length === this.#slots.length) this.#resize(this.#length * 2);
    this.#slots[(this.#head + this.#length) & (this.#slots.length - 1)] = value;
    this.#length++;
  }

  first(): T | undefined {
    return this.#slots[this.#head];
  }

  /** The value `index` places behind the first. */
  at(index: number): T | undefined {
    return index < this.#length ? this.#slots[(this.#head + index) & (this.#slots.length - 1)] : undefined;
  }

  shift(): T | undefined {
    const value = this.#slots[this.#head];
    if (this.#length === 0) return undefined;
    this.#slots[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#slots.length - 1);
    this.#length--;
    if (this.#length < this.#slots.length >> 3 && this.#slots.length > 64) this.#resize(this.#slots.length >> 1);
    return value;
  }

  clear(): void {
    this.#slots = new Array<T | undefined>(8);
    this.#head = 0;
    this.#length = 0;
  }

  /** Removes the value `index` places behind the first; the values on its shorter side move. */
  removeAt(index: number): void {
    const mask = this.#slots.length - 1;
    const slot = (place: number): number => (this.#head + place) & mask;
    if (index < this.#length >> 1) {
      for (let place = index; place > 0; place--) this.#slots[slot(place)] = this.#slots[slot(place - 1)];
      this.shift();
      return;
    }
    for (let place = index + 1; place < this.#length; place++) this.#slots[slot(place - 1)] = this.#slots[slot(place)];
    this.#length--;
    this.#slots[slot(this.#length)] = undefined;
  }

  /** Removes the first `count` values and returns them in order. Copies only the shorter part. */
  takeFirst(count: number): Deque<T> {
    const other = new Deque<T>();
    if (count <= this.#length >> 1) {
      for (let left = count; left > 0; left--) other.push(this.shift() as T);
      return other;
    }
    const rest = new Deque<T>();
    for (let index = count; index < this.#length; index++) rest.push(this.at(index) as T);
    [other.#slots, other.#head, other.#length] = [this.#slots, this.#head, Math.min(count, this.#length)];
    const mask = other.#slots.length - 1;
    for (let index = count; index < this.#length; index++) other.#slots[(other.#head + index) & mask] = undefined;
    [this.#slots, this.#head, this.#length] = [rest.#slots, rest.#head, rest.#length];
    return other;
  }

  /** Calls `visit` from the first, or the one `from` places behind it, to the last; false ends it. */
  each(visit: (value: T) => boolean | void, from = 0): void {
    for (let index = from; index < this.#length; index++) {
      if (visit(this.#slots[(this.#head + index) & (this.#slots.length - 1)] as T) === false) return;
    }
  }

  /** Keeps the values for which `wanted` returns true, in order. */
  filter(wanted: (value: T) => boolean): void {
    let kept = 0;
    const mask = this.#slots.length - 1;
    for (let index = 0; index < this.#length; index++) {
      const value = this.#slots[(this.#head + index) & mask] as T;
      if (wanted(value)) this.#slots[(this.#head + kept++) & mask] = value;
    }
    for (let index = kept; index < this.#length; index++) this.#slots[(this.#head + index) & mask] = undefined;
    this.#length = kept;
  }

  #resize(capacity: number): void {
    const slots = new Array<T | undefined>(capacity);
    const mask = this.#slots.length - 1;
    for (let index = 0; index < this.#length; index++) slots[index] = this.#slots[(this.#head + index) & mask];
    this.#slots = slots;
    this.#head = 0;
  }
}
