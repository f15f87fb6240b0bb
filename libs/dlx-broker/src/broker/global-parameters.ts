import type { TopologyChange } from './topology-change.js';

/** Named values of the whole broker, as JSON has them; the broker itself reads only its cluster's name. */
export class GlobalParameters {
  readonly #values = new Map<string, unknown>();

  /** @param report called after every change */
  constructor(readonly report: (change: TopologyChange) => void) {}

  get(name: string): unknown {
    return this.#values.get(name);
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  list(): readonly { readonly name: string; readonly value: unknown }[] {
    return [...this.#values].map(([name, value]) => ({ name, value }));
  }

  set(name: string, value: unknown): 'created' | 'changed' {
    const existed = this.#values.has(name);
    this.#values.set(name, value);
    this.report({ kind: 'global-parameter', change: 'added', name, value });
    return existed ? 'changed' : 'created';
  }

  /** False when there is none of that name. */
  delete(name: string): boolean {
    const existed = this.#values.delete(name);
    if (existed) this.report({ kind: 'global-parameter', change: 'removed', name });
    return existed;
  }
}
