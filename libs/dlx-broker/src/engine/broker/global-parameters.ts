import type { TopologyChange } from './topology-change.js';

/** Named JSON values of the whole broker. The broker itself reads only the name of its cluster. */
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

  /** @returns false when there was none of that name */
  delete(name: string): boolean {
    const existed = this.#values.delete(name);
    if (existed) this.report({ kind: 'global-parameter', change: 'removed', name });
    return existed;
  }
}
