import { type Added, delayedName, delayedType, outlives, type TopologyChange } from '../engine/broker/index.js';

/** A declared object. */
interface Declaration {
  readonly key: string;
  added: Added;
  /** The objects whose deletion deletes this one. */
  readonly parents: readonly Anchor[];
}

/** An object on which others depend, by its key, until it is deleted. The object itself need not be durable. */
interface Anchor {
  readonly key: string;
  readonly dependents: Set<Declaration>;
  isGone: boolean;
}

/**
 * The durable declarations: the last state of each object. The deletion of an object deletes its dependents at once,
 * however many they are; {@link forgetSome} frees their memory.
 */
export class DurableTopology {
  readonly #kept = new Map<string, Declaration>();
  readonly #anchors = new Map<string, Anchor>();
  /** Deleted objects with dependents in memory. */
  readonly #gone = new Set<Anchor>();

  /** A name that is unique among all virtual hosts. */
  static placeOf(vhost: string, name: string): string {
    return JSON.stringify({ vhost, name });
  }

  copy(): DurableTopology {
    const copy = new DurableTopology();
    for (const added of this.all()) copy.#add(keyOf(added), added);
    return copy;
  }

  hasExchange(vhost: string, name: string): boolean {
    return this.#has(`exchange ${DurableTopology.placeOf(vhost, name)}`);
  }

  /** Whether the object of this change is declared. */
  has(change: TopologyChange): boolean {
    return this.#has(keyOf(change));
  }

  /** All declarations. An object that changes meanwhile comes in its old state, its new state, or both. */
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
   * Frees the memory of deleted dependents.
   * @param limit the most declarations to free
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

  #forget(kept: Declaration): void {
    this.#kept.delete(kept.key);
    for (const anchor of kept.parents) {
      anchor.dependents.delete(kept);
      if (anchor.dependents.size === 0 && !anchor.isGone) this.#anchors.delete(anchor.key);
    }
  }
}

const isThere = ({ parents }: Declaration): boolean => {
  for (const { isGone } of parents) if (isGone) return false;
  return true;
};

/** The message owner of a change, a queue or a delayed exchange; undefined for any other object. */
export function ownerOf(change: TopologyChange): { readonly vhost: string; readonly name: string } | undefined {
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

/** Makes JSON of field values: two values have the same JSON only if they are equal. */
const plain = (_name: string, value: unknown): unknown => {
  if (typeof value === 'bigint') return `${value}n`;
  return value instanceof Map ? [...(value as Map<string, unknown>)] : value;
};

/** The keys of the objects whose deletion deletes this one. */
function parentsOf(added: Added): readonly string[] {
  if (added.kind === 'user' || added.kind === 'global-parameter' || added.kind === 'vhost') return [];
  const vhost = `vhost ${added.vhost}`;
  if (added.kind === 'permission' || added.kind === 'topic-permission') return [vhost, `user ${added.name}`];
  if (added.kind === 'queue-pause') return [vhost, `queue ${DurableTopology.placeOf(added.vhost, added.name)}`];
  if (added.kind !== 'binding') return [vhost];
  const source = `exchange ${DurableTopology.placeOf(added.vhost, added.name)}`;
  const { to, destination } = added.details;
  return [vhost, source, `${to} ${DurableTopology.placeOf(added.vhost, destination)}`];
}
