import {
  type Added,
  delayedType,
  exchangeOfDelayed,
  delayedName,
  outlives,
  type TopologyChange,
} from '../broker/index.js';

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
export class DurableTopology {
  readonly #kept = new Map<string, Kept>();
  readonly #anchors = new Map<string, Anchor>();
  /** Those of things that are removed. */
  readonly #gone = new Set<Anchor>();

  /** The name of a queue among all virtual hosts. */
  static placeOf(vhost: string, name: string): string {
    return JSON.stringify({ vhost, name });
  }

  copy(): DurableTopology {
    const copy = new DurableTopology();
    for (const added of this.all()) copy.#add(keyOf(added), added);
    return copy;
  }

  /** Whether the queue, or the exchange that holds messages back, is declared. */
  hasHolder(place: string): boolean {
    if (this.#has(`queue ${place}`)) return true;
    const { vhost, name } = JSON.parse(place) as { vhost: string; name: string };
    const exchange = exchangeOfDelayed(name);
    return exchange !== undefined && this.hasExchange(vhost, exchange);
  }

  hasExchange(vhost: string, name: string): boolean {
    return this.#has(`exchange ${DurableTopology.placeOf(vhost, name)}`);
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
}

const isThere = ({ parents }: Kept): boolean => {
  for (const { isGone } of parents) if (isGone) return false;
  return true;
};

/** What can hold messages, as the journal calls it: a queue, or a delayed exchange; undefined for anything else. */
export function holderOf(change: TopologyChange): { readonly vhost: string; readonly name: string } | undefined {
  if (change.kind === 'queue') return change;
  if (change.kind !== 'exchange') return undefined;
  const holds = change.change === 'removed' || change.details.type === delayedType;
  return holds ? { vhost: change.vhost, name: delayedName(change.name) } : undefined;
}

function keyOf(change: TopologyChange): string {
  if (change.kind === 'vhost') return `vhost ${change.vhost}`;
  if (change.kind === 'user' || change.kind === 'global-parameter') return `${change.kind} ${change.name}`;
  const place = `${change.kind} ${DurableTopology.placeOf(change.vhost, change.name)}`;
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
  const source = `exchange ${DurableTopology.placeOf(added.vhost, added.name)}`;
  const { to, destination } = added.details;
  return [vhost, source, `${to} ${DurableTopology.placeOf(added.vhost, destination)}`];
}
