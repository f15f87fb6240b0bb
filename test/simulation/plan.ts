import type { Random } from '../fuzz/random.js';
import type { Conditions } from './direction.js';
import type { ServerEnd, ServerPlan } from './server.js';
import type { World } from './world.js';

/** What happens to a message in the end, unless it fails before. `requeue`: it returns to its queue once, and is then acked. */
export type Fate = 'ack' | 'forward' | 'park' | 'reject' | 'requeue';

/**
 * How a message is published. `event`: to an exchange. `queue`: to the default exchange. `delayed`: later. `small`: to a queue that is
 * often full, and refuses. `unroutable`: mandatory, to an exchange that has no queue for it. `dropped`: the same, not mandatory.
 * `missing`: to an exchange that does not exist, so that the server closes the channel.
 */
export type Kind = 'event' | 'queue' | 'delayed' | 'small' | 'unroutable' | 'dropped' | 'missing';

/** A message, and what its handler does with it. Times are milliseconds. */
export interface Task {
  readonly id: string;
  readonly kind: Kind;
  readonly fate: Fate;
  /** Attempts that fail. */
  readonly failures: number;
  readonly size: number;
  readonly delay: number;
  /** When it is published, and by which replica. */
  readonly at: number;
  readonly replica: number;
}

/** Attempts of the retry policy. */
export const attempts = 3;

/** Where a message of this task ends. `handled`: acked by its last handler. */
export function placeOf({ kind, fate, failures }: Task): 'handled' | 'parked' | 'dead' | 'nowhere' {
  if (kind === 'unroutable' || kind === 'dropped' || kind === 'missing') return 'nowhere';
  if (kind === 'small') return 'handled';
  if (failures >= attempts || fate === 'park') return 'parked';
  return fate === 'reject' ? 'dead' : 'handled';
}

/** Something that goes wrong. */
export type Fault = { readonly at: number } & (
  | { readonly kind: 'cut'; readonly up: boolean; readonly frames: number; readonly bytes: number }
  | { readonly kind: 'swallow'; readonly up: boolean }
  | { readonly kind: 'drip'; readonly up: boolean; readonly bytes: number; readonly pause: number }
  | { readonly kind: 'stall'; readonly up: boolean; readonly length: number }
  | { readonly kind: 'alarm'; readonly length: number }
  | {
      readonly kind: 'server';
      readonly how: ServerEnd;
      /** It ends during the next operation of its disk, not at once. */
      readonly duringWork: boolean;
      readonly vanishes: boolean;
      readonly length: number;
    }
  | { readonly kind: 'replica'; readonly vanishes: boolean; readonly length: number }
  | { readonly kind: 'stop'; readonly length: number }
);

export type FaultKind = Fault['kind'];

/** Faults that end no connection, but for long stalls. */
export const harmless: readonly FaultKind[] = ['drip', 'stall', 'alarm'];

/** How one replica is set up. Times are milliseconds. */
export interface ReplicaPlan {
  readonly prefetch: number;
  /** Seconds. */
  readonly heartbeat: number;
  readonly publishTimeout: number;
  readonly refusedFor: number;
  readonly connectTimeout: number;
  readonly longestPause: number;
  readonly unconfirmed: number;
  /** The longest time of a handler. */
  readonly slowest: number;
}

/** A whole run. */
export interface Plan {
  readonly server: ServerPlan;
  readonly conditions: Conditions;
  readonly replicas: readonly ReplicaPlan[];
  readonly isQuorum: boolean;
  /** Retries without a wait, and the waits of further ones in milliseconds. */
  readonly immediate: number;
  readonly backoff: readonly number[];
  readonly tasks: readonly Task[];
  readonly faults: readonly Fault[];
  /** Milliseconds during which messages are published and faults occur. */
  readonly length: number;
}

/** Draws a run. */
export function planOf(world: World): Plan {
  const random = world.random(3);
  const length = random.integer(1_000, 15_000);
  const count = random.pick([1, 1, 2, 3]);
  const tasks = random.integer(4, 20);
  return {
    length,
    server: serverPlan(random),
    conditions: {
      latency: random.pick([
        [0, 0],
        [0, 2],
        [1, 20],
        [20, 80],
      ] as const),
      split: random.pick([0, 0.1, 0.5]),
      room: random.pick([512, 4_096, 65_536]),
    },
    replicas: Array.from({ length: count }, () => replicaPlan(random)),
    isQuorum: random.chance(0.15),
    backoff: random.pick([[50, 200], [100, 1_000], [500]]),
    immediate: random.pick([0, 0, 1]),
    tasks: Array.from({ length: tasks }, (_, index) => taskOf(random, `m${index}`, count, length)),
    faults: faultsOf(random, length),
  };
}

const serverPlan = (random: Random): ServerPlan => ({
  rabbitmq: random.pick(['3.10', '4']),
  segment: random.pick([4_096, 16_384, 65_536]),
  memory: random.pick([0, 2_000, 1_000_000]),
  recordsInTurn: random.pick([1, 3, 2_048, 2_048]),
  budget: random.pick([1, 7, 500, 500]),
  slowest: random.pick([0, 2, 2, 40, 400]),
  unread: random.pick([200, 2_000, 1_048_576]),
  heartbeat: random.pick([3, 10, 60]),
  canReplace: random.chance(0.5),
});

const replicaPlan = (random: Random): ReplicaPlan => ({
  prefetch: random.pick([1, 2, 5, 20]),
  heartbeat: random.pick([2, 5, 10]),
  publishTimeout: random.pick([5_000, 10_000, 30_000]),
  refusedFor: random.pick([0, 2_000, 10_000]),
  connectTimeout: random.pick([1_000, 5_000]),
  longestPause: random.pick([500, 5_000]),
  unconfirmed: random.pick([1, 3, 1_000, 1_000]),
  slowest: random.pick([0, 50, 400, 5_000]),
});

function taskOf(random: Random, id: string, replicas: number, length: number): Task {
  return {
    id,
    kind: random.weighted({ event: 8, queue: 4, delayed: 3, small: 2, unroutable: 2, dropped: 1, missing: 0.4 }),
    fate: random.weighted({ ack: 6, forward: 3, park: 1, reject: 1, requeue: 1 }),
    failures: random.pick([0, 0, 0, 0, 1, 1, 2, attempts]),
    size: random.pick([0, 10, 100, 100, 1_000, 20_000]),
    delay: random.integer(1, 4_000),
    at: random.integer(0, length),
    replica: random.integer(0, replicas - 1),
  };
}

/** One run in eight has no fault at all, one in eight only such as end no connection, and one in eight only stops in order besides. */
function faultsOf(random: Random, length: number): readonly Fault[] {
  const roll = random.next();
  if (roll < 1 / 8) return [];
  const count = random.integer(1, 5);
  const faults = Array.from({ length: count }, () => faultOf(random, random.integer(0, length), kindOf(random, roll)));
  return faults.sort((one, other) => one.at - other.at);
}

function kindOf(random: Random, roll: number): FaultKind {
  if (roll < 1 / 4) return random.pick(harmless);
  if (roll < 3 / 8) return random.weighted({ stop: 4, drip: 1, stall: 1, alarm: 1 });
  return random.weighted({ cut: 6, swallow: 1.5, drip: 1, stall: 1, alarm: 1, server: 3, replica: 1, stop: 1.5 });
}

function faultOf(random: Random, at: number, kind: FaultKind): Fault {
  const up = random.chance(0.5);
  const vanishes = random.chance(0.3);
  switch (kind) {
    case 'cut':
      return { kind, at, up, frames: random.integer(0, 12), bytes: random.pick([0, 0, 1, 7, random.integer(1, 200)]) };
    case 'swallow':
      return { kind, at, up };
    case 'drip':
      return { kind, at, up, bytes: random.integer(1, 40), pause: random.integer(1, 5) };
    case 'stall':
      return { kind, at, up, length: random.integer(10, 3_000) };
    case 'alarm':
      return { kind, at, length: random.integer(500, 20_000) };
    case 'server':
      return {
        kind,
        at,
        vanishes,
        how: random.pick(['killed', 'power cut'] as const),
        duringWork: random.chance(0.5),
        length: random.integer(1, 8_000),
      };
    case 'replica':
      return { kind, at, vanishes, length: random.integer(100, 5_000) };
    case 'stop':
      return { kind, at, length: random.integer(100, 3_000) };
  }
}
