import { expect, it } from 'vitest';
import { Deque } from '../deque.js';
import type { Clock } from '../ports.js';
import { type ScheduledLetter, type ScheduledQueue, Scheduler } from './scheduler.js';

const still: Clock = { now: () => 1, wakeAt: () => {} };

/** A queue in which messages have expired: each step of it makes a dead letter. */
class ExpiringQueue implements ScheduledQueue {
  isScheduled = false;

  constructor(
    readonly dead: Deque<ScheduledLetter>,
    readonly die: (place: number) => ScheduledLetter,
    public left: number,
  ) {}

  serve(_now: number, limit: number): number {
    const steps = Math.min(limit, this.left);
    for (let step = 0; step < steps; step++) this.dead.push(this.die(this.left--));
    return steps;
  }
}

it('messages that expire together are routed in batches, each before more of them become dead letters', () => {
  const dead = new Deque<ScheduledLetter>();
  const scheduler = new Scheduler(still, undefined, undefined, dead);
  const routed: number[] = [];
  let most = 0;
  const die = (place: number): ScheduledLetter => ({ route: () => void routed.push(place) });
  const queue = new ExpiringQueue(
    dead,
    (place) => {
      most = Math.max(most, dead.length + 1);
      return die(place);
    },
    100_000,
  );
  scheduler.batch(() => scheduler.scheduleQueue(queue));
  expect(routed).toEqual(Array.from({ length: 100_000 }, (_, index) => 100_000 - index));
  expect(most).toBeLessThan(2_100);
});

it('a queue is served to its end before its first dead letter is routed when there are few', () => {
  const dead = new Deque<ScheduledLetter>();
  const scheduler = new Scheduler(still, undefined, undefined, dead);
  const left: number[] = [];
  const queue = new ExpiringQueue(dead, () => ({ route: () => void left.push(queue.left) }), 1_000);
  scheduler.batch(() => scheduler.scheduleQueue(queue));
  expect(left).toEqual(new Array(1_000).fill(0));
});
