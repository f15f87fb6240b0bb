import type { VirtualHost } from '../../../engine/broker/index.js';
import { inTurns, type Turns } from '../../http/turns.js';
import { type DeadLetterGraph, deadLetterGraphOf } from './dead-letter-graph.js';

/** Something that was made of a topology, and the version of the topology when the making began. */
interface Versioned<T> {
  readonly version: number;
  readonly value: T;
}

/**
 * The graph of each virtual host. A graph is made when it is asked for, and again only after a change of the topology or of the
 * policies. Requests at the same time share the work.
 */
export class DeadLetterGraphs {
  readonly #known = new WeakMap<VirtualHost, Versioned<DeadLetterGraph>>();
  readonly #making = new WeakMap<VirtualHost, Promise<void>>();

  constructor(readonly turns: Turns) {}

  /** The graph of the present topology. A change while the graph is made may be in it or not; the next call shows the change. */
  async of(vhost: VirtualHost): Promise<DeadLetterGraph> {
    const { topologyVersion: asked } = vhost;
    for (;;) {
      const known = this.#known.get(vhost);
      if (known !== undefined && known.version >= asked) return known.value;
      await (this.#making.get(vhost) ?? this.#make(vhost));
    }
  }

  #make(vhost: VirtualHost): Promise<void> {
    const { topologyVersion: version } = vhost;
    const made = inTurns(deadLetterGraphOf(vhost), this.turns)
      .then((value) => void this.#known.set(vhost, { version, value }))
      .finally(() => this.#making.delete(vhost));
    this.#making.set(vhost, made);
    return made;
  }
}
