import { type Broker, delayedType, exchangeOfHold, holdName, type TopologyChange } from '../broker/index.js';

type Added = Extract<TopologyChange, { readonly change: 'added' }>;

/** A thing that is declared. */
interface Kept {
  readonly key: string;
  added: Added;
  /** What it goes with. */
  readonly parents: readonly Anchor[];
}

/** What others go with: a thing of some key, until that is removed. What it leads to need not be kept itself. */
interface Anchor {
  readonly key: string;
  readonly dependents: Set<Kept>;
  isGone: boolean;
}

/**
 * What is declared, as it would come back: the last word about each thing. What goes with a thing that is removed is
 * gone in the same moment, however much it is; {@link forgetSome} lets go of its memory.
 */
export class MemoryTopology {
  readonly #kept = new Map<string, Kept>();
  readonly #anchors = new Map<string, Anchor>();
  /** Those of things that are removed. */
  readonly #gone = new Set<Anchor>();

  /** The name of a queue among all virtual hosts. */
  static placeOf(vhost: string, name: string): string {
    return JSON.stringify({ vhost, name });
  }

  copy(): MemoryTopology {
    const copy = new MemoryTopology();
    for (const added of this.all()) copy.#add(keyOf(added), added);
    return copy;
  }

  /** Whether the queue, or the exchange that holds messages back, is declared. */
  hasHolder(place: string): boolean {
    if (this.#has(`queue ${place}`)) return true;
    const { vhost, name } = JSON.parse(place) as { vhost: string; name: string };
    const exchange = exchangeOfHold(name);
    return exchange !== undefined && this.hasExchange(vhost, exchange);
  }

  hasExchange(vhost: string, name: string): boolean {
    return this.#has(`exchange ${MemoryTopology.placeOf(vhost, name)}`);
  }

  /** Whether it knows what this is about. */
  has(change: TopologyChange): boolean {
    return this.#has(keyOf(change));
  }

  /** What changes while it is looked through comes as it was or as it is, or both. */
  *all(): Generator<Added, undefined> {
    for (const kept of this.#kept.values()) if (isThere(kept)) yield kept.added;
  }

  clear(): void {
    this.#kept.clear();
    this.#anchors.clear();
    this.#gone.clear();
  }

  changed(change: TopologyChange): void {
    const key = keyOf(change);
    if (change.change === 'removed') this.#remove(key);
    else if (outlives(change)) this.#add(key, change);
  }

  /**
   * Lets go of what went with others.
   * @param limit things at most
   * @returns whether there are more
   */
  forgetSome(limit: number): boolean {
    let left = limit;
    for (const anchor of this.#gone) {
      for (const kept of anchor.dependents) {
        if (left-- <= 0) return true;
        this.#forget(kept);
      }
      this.#gone.delete(anchor);
    }
    return false;
  }

  #has(key: string): boolean {
    const kept = this.#kept.get(key);
    return kept !== undefined && isThere(kept);
  }

  #add(key: string, added: Added): void {
    const before = this.#kept.get(key);
    if (before !== undefined) {
      if (isThere(before)) {
        before.added = added;
        return;
      }
      this.#forget(before);
    }
    const kept = { key, added, parents: parentsOf(added).map((parent) => this.#anchorOf(parent)) };
    for (const { dependents } of kept.parents) dependents.add(kept);
    this.#kept.set(key, kept);
  }

  #anchorOf(key: string): Anchor {
    let anchor = this.#anchors.get(key);
    if (anchor === undefined) this.#anchors.set(key, (anchor = { key, dependents: new Set(), isGone: false }));
    return anchor;
  }

  #remove(key: string): void {
    const kept = this.#kept.get(key);
    if (kept !== undefined) this.#forget(kept);
    const anchor = this.#anchors.get(key);
    if (anchor === undefined) return;
    this.#anchors.delete(key);
    anchor.isGone = true;
    this.#gone.add(anchor);
  }

  #forget(kept: Kept): void {
    this.#kept.delete(kept.key);
    for (const anchor of kept.parents) {
      anchor.dependents.delete(kept);
      if (anchor.dependents.size === 0 && !anchor.isGone) this.#anchors.delete(anchor.key);
    }
  }

  /** In an order in which everything finds what it needs. */
  restore(broker: Broker): void {
    for (const kind of kinds) {
      for (const added of this.all()) if (added.kind === kind) restoreOne(broker, added);
    }
  }
}

const isThere = ({ parents }: Kept): boolean => {
  for (const { isGone } of parents) if (isGone) return false;
  return true;
};

const kinds = [
  'global-parameter',
  'vhost',
  'vhost-limit',
  'user',
  'permission',
  'topic-permission',
  'policy',
  'operator-policy',
  'exchange',
  'queue',
  'binding',
] as const;

function restoreOne(broker: Broker, added: Added): void {
  if (added.kind === 'user') return void broker.access.setUser(added.name, added.details);
  if (added.kind === 'global-parameter') return void broker.parameters.set(added.name, added.value);
  if (added.kind === 'vhost') return void broker.addVirtualHost(added.vhost, added.details);
  const vhost = broker.addVirtualHost(added.vhost);
  switch (added.kind) {
    case 'vhost-limit':
      return vhost.limits.set(added.name, added.value);
    case 'topic-permission':
      return void broker.access.topics.set(added.name, added.vhost, added.details);
    case 'permission':
      return void broker.access.setPermissions(added.name, added.vhost, added.details);
    case 'policy':
      return void vhost.setPolicy(added.name, added.details);
    case 'operator-policy':
      return void vhost.setOperatorPolicy(added.name, added.details);
    case 'exchange':
      return void vhost.addExchange(added.details);
    case 'queue':
      return void vhost.addQueue(added.details, vhost.agenda.clock.now());
    case 'binding': {
      const { to, destination: name, bindingKey, arguments: args } = added.details;
      const destination = to === 'queue' ? vhost.queues.get(name) : vhost.exchanges.get(name);
      // An end that was not durable is gone, and the binding with it.
      if (destination !== undefined) vhost.exchanges.get(added.name)?.bind(destination, bindingKey, args);
    }
  }
}

/** What can hold messages, as the journal calls it: a queue, or a delayed exchange; undefined for anything else. */
export function holderOf(change: TopologyChange): { readonly vhost: string; readonly name: string } | undefined {
  if (change.kind === 'queue') return change;
  if (change.kind !== 'exchange') return undefined;
  const holds = change.change === 'removed' || change.details.type === delayedType;
  return holds ? { vhost: change.vhost, name: holdName(change.name) } : undefined;
}

/** Rule L1. */
export function outlives(added: Added): boolean {
  if (added.kind === 'exchange') return added.details.durable;
  return added.kind !== 'queue' || (added.details.durable && added.details.owner === undefined);
}

function keyOf(change: TopologyChange): string {
  if (change.kind === 'vhost') return `vhost ${change.vhost}`;
  if (change.kind === 'user' || change.kind === 'global-parameter') return `${change.kind} ${change.name}`;
  const place = `${change.kind} ${MemoryTopology.placeOf(change.vhost, change.name)}`;
  if (change.kind === 'topic-permission') {
    return `${place} ${change.change === 'added' ? change.details.exchange : change.exchange}`;
  }
  if (change.kind !== 'binding') return place;
  const { to, destination, bindingKey, arguments: args } = change.details;
  return `${place} ${JSON.stringify([to, destination, bindingKey, [...args].sort(([one], [other]) => (one < other ? -1 : 1))], plain)}`;
}

/** Field values differ by their content, of any type. */
const plain = (_name: string, value: unknown): unknown => {
  if (typeof value === 'bigint') return `${value}n`;
  return value instanceof Map ? [...(value as Map<string, unknown>)] : value;
};

/** The keys of what it goes with: whatever it hangs on, and its virtual host. */
function parentsOf(added: Added): readonly string[] {
  if (added.kind === 'user' || added.kind === 'global-parameter' || added.kind === 'vhost') return [];
  const vhost = `vhost ${added.vhost}`;
  if (added.kind === 'permission' || added.kind === 'topic-permission') return [vhost, `user ${added.name}`];
  if (added.kind !== 'binding') return [vhost];
  const source = `exchange ${MemoryTopology.placeOf(added.vhost, added.name)}`;
  const { to, destination } = added.details;
  return [vhost, source, `${to} ${MemoryTopology.placeOf(added.vhost, destination)}`];
}
