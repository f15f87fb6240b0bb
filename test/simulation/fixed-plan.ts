import type { Fate, Fault, Kind, Plan, Task } from './plan.js';

/** A plan without chance: one replica, a fast network, and a message of each kind and fate. Tests add what goes wrong. */
export const fixedPlan = (tasks: readonly Task[], faults: readonly Fault[] = [], replicas = 1): Plan => ({
  length: 10_000,
  server: {
    rabbitmq: '3.10',
    segment: 16_384,
    memory: 1_000_000,
    recordsInTurn: 2_048,
    budget: 500,
    slowest: 2,
    unread: 1_048_576,
    heartbeat: 10,
    canReplace: true,
  },
  conditions: { latency: [1, 1], split: 0, room: 65_536 },
  replicas: Array.from({ length: replicas }, () => ({
    prefetch: 5,
    heartbeat: 2,
    publishTimeout: 10_000,
    refusedFor: 2_000,
    connectTimeout: 5_000,
    longestPause: 1_000,
    unconfirmed: 1_000,
    slowest: 0,
  })),
  isQuorum: false,
  immediate: 0,
  backoff: [100, 200],
  tasks,
  faults,
});

/** A message that is published at a time, in milliseconds. */
export const task = (id: string, at: number, kind: Kind, fate: Fate = 'ack', failures = 0): Task => ({
  id,
  at,
  kind,
  fate,
  failures,
  size: 10,
  delay: 300,
  replica: 0,
});

/** One message of each kind and fate. */
export const eachOnce: readonly Task[] = [
  task('acked', 1_000, 'event'),
  task('forwarded', 1_010, 'queue', 'forward'),
  task('retried', 1_020, 'event', 'ack', 1),
  task('poison', 1_030, 'queue', 'ack', 3),
  task('parked', 1_040, 'event', 'park'),
  task('rejected', 1_050, 'event', 'reject'),
  task('requeued', 1_060, 'event', 'requeue'),
  task('delayed', 1_070, 'delayed'),
  task('small', 1_080, 'small'),
  task('unroutable', 1_090, 'unroutable'),
  task('dropped', 1_100, 'dropped'),
  task('missing', 1_110, 'missing'),
];
