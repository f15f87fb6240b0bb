import type { Into } from './recipients.js';

/** A set of destinations, which counts the bindings to each. */
export class Destinations<Destination> {
  /** The number of bindings to each destination. */
  readonly #bindings = new Map<Destination, number>();
  /** The destinations as a list, which is faster to iterate; rebuilt when it is needed after a change. */
  #list: readonly Destination[] | undefined;

  get size(): number {
    return this.#bindings.size;
  }

  add(destination: Destination): void {
    const count = this.#bindings.get(destination) ?? 0;
    this.#bindings.set(destination, count + 1);
    if (count === 0) this.#list = undefined;
  }

  remove(destination: Destination): void {
    const count = this.#bindings.get(destination);
    if (count === undefined) return;
    if (count > 1) {
      this.#bindings.set(destination, count - 1);
    } else {
      this.#bindings.delete(destination);
      this.#list = undefined;
    }
  }

  addTo(into: Into<Destination>): void {
    const list = (this.#list ??= [...this.#bindings.keys()]);
    for (let index = 0; index < list.length; index++) into.add(list[index]!);
  }
}
