import { type LimitName, reached } from '../declarations.js';
import type { TopologyChange } from '../topology-change.js';

/** How many connections and queues a virtual host may have; a negative number is no limit. */
export class VirtualHostLimits {
  readonly #values = new Map<LimitName, number>();

  /** @param report called after every change */
  constructor(
    readonly vhost: string,
    readonly report: (change: TopologyChange) => void,
  ) {}

  get(name: LimitName): number | undefined {
    return this.#values.get(name);
  }

  /** The limit, if `count` has reached it; otherwise undefined. */
  reachedBy(name: LimitName, count: number): number | undefined {
    return reached(this.#values.get(name), count);
  }

  list(): ReadonlyMap<LimitName, number> {
    return this.#values;
  }

  set(name: LimitName, value: number): void {
    this.#values.set(name, value);
    this.report({ kind: 'vhost-limit', change: 'added', vhost: this.vhost, name, value });
  }

  /** @returns false when there was no limit */
  delete(name: LimitName): boolean {
    const existed = this.#values.delete(name);
    if (existed) this.report({ kind: 'vhost-limit', change: 'removed', vhost: this.vhost, name });
    return existed;
  }
}
