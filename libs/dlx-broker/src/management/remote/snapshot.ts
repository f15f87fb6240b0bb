import type { Queue } from '../../broker/index.js';
import { inTurns, type Turns } from '../http/turns.js';
import type { DeadLetterGraph } from '../dlx/graph/dead-letter-graph.js';
import { DeadLetterGraphs } from '../dlx/graph/dead-letter-graphs.js';
import type { Caller } from './caller.js';
import type { RemoteHost } from './host.js';
import { loadLists } from './lists.js';
import { type Mirror, mirrored, mirrorOf, placeOf, topologyKey } from './mirror.js';
import { liveOf, type LiveQueue } from './live-queue.js';

/** What a user sees of a server, as it was a moment ago. */
export interface Snapshot {
  readonly version: string;
  /** Sorted by virtual host and name. */
  readonly queues: readonly LiveQueue[];
  readonly byQueue: ReadonlyMap<Queue, LiveQueue>;
  readonly mirror: Mirror;
  /** The graphs of the virtual hosts that the user may see, by name. */
  readonly graphs: ReadonlyMap<string, DeadLetterGraph>;
}

/** How long a snapshot is shown, in milliseconds; and how long a failure to make one. */
const fresh = 5_000;
const failed = 1_000;

/** The users whose snapshots are kept, and the topologies. */
const most = { snapshots: 16, mirrors: 4 };

interface Kept {
  until: number;
  readonly snapshot: Promise<Snapshot>;
}

/**
 * The snapshots of a server by user, because each sees what the server shows to this user. Requests at the same time share one,
 * and a mirror is made again only after a change of the topology.
 */
export class Snapshots {
  readonly #kept = new Map<string, Kept>();
  readonly #mirrors = new Map<string, Promise<Mirror>>();
  readonly #graphs: DeadLetterGraphs;

  constructor(
    readonly host: RemoteHost,
    readonly turns: Turns,
  ) {
    this.#graphs = new DeadLetterGraphs(turns);
  }

  /** @throws Problem when the server does not answer, or refuses the user */
  of(caller: Caller): Promise<Snapshot> {
    const { clock } = this.host;
    const known = this.#kept.get(caller.key);
    if (known !== undefined && known.until > clock.now()) return known.snapshot;
    const kept: Kept = { until: Infinity, snapshot: this.#load(caller) };
    this.#kept.delete(caller.key);
    this.#kept.set(caller.key, kept);
    if (this.#kept.size > most.snapshots) this.#kept.delete(this.#kept.keys().next().value as string);
    kept.snapshot.then(
      () => (kept.until = clock.now() + fresh),
      () => (kept.until = clock.now() + failed),
    );
    return kept.snapshot;
  }

  /** Forgets what a user saw, after a change by this user. */
  forget({ key }: Caller): void {
    this.#kept.delete(key);
  }

  async #load(caller: Caller): Promise<Snapshot> {
    const lists = await loadLists(this.host.server, caller);
    const mirror = await this.#mirrorOf(lists);
    const graphs = new Map<string, DeadLetterGraph>();
    for (const [name, vhost] of mirror.broker.virtualHosts) {
      if (lists.vhosts.some((row) => row['name'] === name)) graphs.set(name, await this.#graphs.of(vhost));
    }
    const byQueue = new Map<Queue, LiveQueue>();
    const parked = new Set([...parkingLotsIn(lists.queues), ...this.#parkingLots()]);
    for (const row of lists.queues) {
      const queue = mirrored(row, mirror);
      const graph = queue && graphs.get(queue.home.name);
      if (queue !== undefined && graph !== undefined) byQueue.set(queue, liveOf(row, queue, graph, parked));
    }
    const queues = [...graphs.values()].flatMap((graph) => graph.queues.flatMap((queue) => byQueue.get(queue) ?? []));
    return { version: lists.version, queues, byQueue, mirror, graphs };
  }

  /** The parking lots of this application, as keys. */
  #parkingLots(): readonly string[] {
    const { vhost, names = [] } = this.host.parkingLots?.() ?? {};
    return [...names].map((name) => placeOf(vhost, name));
  }

  #mirrorOf(lists: Parameters<typeof topologyKey>[0]): Promise<Mirror> {
    const key = topologyKey(lists);
    const known = this.#mirrors.get(key);
    if (known !== undefined) return known;
    const made = inTurns(mirrorOf(lists, key, this.host.patterns), this.turns);
    this.#mirrors.set(key, made);
    made.catch(() => this.#mirrors.delete(key));
    if (this.#mirrors.size > most.mirrors) this.#mirrors.delete(this.#mirrors.keys().next().value as string);
    return made;
  }
}

/** The suffix of parking lots of `@Retry`, which no dead-letter edge reaches: handlers publish to them. */
const parkedSuffix = '.parked';

/** The queues that are the parking lot of another queue by their name, as keys. */
function parkingLotsIn(rows: readonly Readonly<Record<string, unknown>>[]): ReadonlySet<string> {
  const names = new Set(rows.map(({ vhost, name }) => placeOf(vhost, name)));
  const isLot = ({ vhost, name }: Readonly<Record<string, unknown>>): boolean =>
    typeof name === 'string' &&
    name.endsWith(parkedSuffix) &&
    names.has(placeOf(vhost, name.slice(0, -parkedSuffix.length)));
  return new Set(rows.filter(isLot).map(({ vhost, name }) => placeOf(vhost, name)));
}
