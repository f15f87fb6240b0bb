import type { Field } from './field-table.js';

/**
 * Keeps the last result of a function, and returns it again as long as the parts of which it is made stay the same. While a service is
 * away, thousands of messages fail in the same way within a millisecond and wait: their headers are one object.
 */
export class Repeated<Result extends object> {
  #parts: readonly unknown[] = [];
  #result: Result | undefined;

  /** @param make called if a part is not the same as before. Its result must not change any more */
  of(parts: readonly unknown[], make: () => Result): Result {
    if (this.#result !== undefined && areSame(this.#parts, parts)) return this.#result;
    const result = make();
    this.#parts = parts;
    return (this.#result = result);
  }
}

/** {@link Repeated} for fields of one value. */
export class RepeatedField<T extends string | number> {
  #value: T | undefined;
  #field: Field | undefined;

  constructor(private readonly make: (value: T) => Field) {}

  of(value: T): Field {
    if (this.#field !== undefined && this.#value === value) return this.#field;
    this.#value = value;
    return (this.#field = this.make(value));
  }
}

function areSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  for (let index = 0; index < other.length; index++) if (one[index] !== other[index]) return false;
  return one.length === other.length;
}
