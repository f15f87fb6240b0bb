import { Random } from '../random.js';

/** What happens to the system during a soak. */
export type Happening =
  | { readonly kind: 'kill a client'; readonly client: number }
  | { readonly kind: 'policy'; readonly definition: Readonly<Record<string, string | number>> | undefined }
  | { readonly kind: 'redrive' }
  | { readonly kind: 'kill the server' }
  | { readonly kind: 'stop the server' };

/** A happening at its time, in seconds from the start. */
export type Event = Happening & { readonly at: number };

/** Seconds between two of a kind, on average. */
const between = { 'kill a client': 5, policy: 20, redrive: 15 } as const;

/** The starts anew, at shares of the time. The long life between the third and the fourth is the one whose slopes count. */
const restarts: readonly (readonly [at: number, kind: 'kill the server' | 'stop the server'])[] = [
  [0.05, 'kill the server'],
  [0.1, 'stop the server'],
  [0.15, 'kill the server'],
  [0.9, 'kill the server'],
  [0.95, 'stop the server'],
];

/** The part of the soak over which slopes are taken, as shares of its time: the long life without its first third. */
export const settled = { from: 0.4, to: 0.9 } as const;

const policies: readonly (Readonly<Record<string, string | number>> | undefined)[] = [
  undefined,
  { 'message-ttl': 1_500 },
  { 'max-length': 200, overflow: 'drop-head' },
  { 'max-length-bytes': 100_000 },
  { 'message-ttl': 5_000, 'max-length': 1_000 },
];

/**
 * Everything that happens in a soak, in the order of time. The seed decides it.
 * @param clients the number of clients that can be killed
 */
export function scheduleOf(seed: number, seconds: number, clients: number): readonly Event[] {
  const random = new Random(seed);
  const events: Event[] = restarts.map(([share, kind]) => ({ kind, at: share * seconds }));
  const each = (mean: number, make: () => Happening): void => {
    // The clients get ready first, and the last events leave some time to settle.
    for (let at = mean * (0.5 + random.next()); at < seconds - 2; at += mean * (0.5 + random.next())) {
      events.push({ ...make(), at });
    }
  };
  each(between['kill a client'], () => ({ kind: 'kill a client', client: random.integer(0, clients - 1) }));
  each(between.policy, () => ({ kind: 'policy', definition: random.pick(policies) }));
  each(between.redrive, () => ({ kind: 'redrive' }));
  return events.toSorted((one, other) => one.at - other.at);
}
