import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Broker, type Channel, type Journal, silentOutbox } from '../../../engine/broker/index.js';
import { toFieldTable } from '../../../engine/message/index.js';
import { CountedNames } from '../../../nest/testing/counted-names.js';
import { ManualClock } from '../../../nest/testing/manual-clock.js';
import type { RedriveOrder } from './redrive-order.js';
import { QueueRedrive } from './queue-redrive.js';

const nothing = (): void => {};
const patterns = { compile: () => ({ matches: () => true }) };

function arrange(journal?: Journal) {
  const clock = new ManualClock();
  const broker = new Broker({ clock, names: new CountedNames(), patterns, ...(journal && { journal }) });
  const channel = broker.connect().openChannel(silentOutbox);
  const dead = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' };
  const declare = (name: string, args: Record<string, unknown>): void =>
    void channel.declareQueue(name, { durable: true, arguments: toFieldTable(args) });
  declare('work', dead);
  declare('narrow', { ...dead, 'x-max-length': 3, 'x-overflow': 'reject-publish' });
  declare('dead', {});
  const vhost = broker.virtualHost('/');
  const depth = (name: string): number => vhost.queues.get(name)!.length + vhost.queues.get(name)!.unacked;
  const redrive = (order: Partial<RedriveOrder> = {}): QueueRedrive => {
    const queue = vhost.queues.get('dead')!;
    const whole = { vhost, queue, user: undefined, by: 'ada', rate: Infinity, dryRun: false, ...order };
    return new QueueRedrive('r', whole, { clock, log: (error) => fail(error) });
  };
  return { clock, channel, depth, redrive };
}

function fail(error: unknown): never {
  throw error;
}

describe('whatever happens during redrives', () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('publish'), to: fc.constantFrom('work', 'narrow', 'dead'), count: fc.nat(6) }),
    fc.record({
      do: fc.constantFrom('reject', 'requeue', 'ack'),
      to: fc.constantFrom('work', 'narrow', 'dead'),
      count: fc.nat(4),
    }),
    fc.record({ do: fc.constant('redrive'), to: fc.constantFrom('', 'narrow', 'none', 'dead'), count: fc.nat(9) }),
    fc.record({ do: fc.constant('redrive odd'), to: fc.constantFrom('', 'narrow'), count: fc.nat(9) }),
    fc.record({ do: fc.constantFrom('pause', 'resume', 'cancel', 'wait'), to: fc.constant(''), count: fc.nat(300) }),
  );

  it('no message is lost and none is doubled', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { clock, channel, depth, redrive } = arrange();
        let published = 0;
        let acked = 0;
        let task: QueueRedrive | undefined;
        for (const { do: what, to, count } of steps) {
          if (what === 'publish') published += publish(channel, to, count, published);
          else if (what === 'pause') task?.pause();
          else if (what === 'resume') task?.resume();
          else if (what === 'cancel') task?.cancel();
          else if (what === 'wait') clock.advance(count);
          else if (what.startsWith('redrive')) {
            task?.cancel();
            task = redrive({
              rate: count === 0 ? Infinity : count * 20,
              ...(to !== '' && { to: { exchange: '', routingKey: to } }),
              ...(what === 'redrive odd' && { filter: { text: 'odd' } }),
            });
          } else acked += settle(channel, to, what, count);
          const here = depth('work') + depth('narrow') + depth('dead');
          expect([what, here + acked]).toEqual([what, published]);
        }
        clock.advance(60_000);
        expect(depth('work') + depth('narrow') + depth('dead') + acked).toBe(published);
        if (task !== undefined && !['paused', 'waiting'].includes(task.state)) expect(task.isOver).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

/** @returns how many were taken */
function publish(channel: Channel, to: string, count: number, from: number): number {
  let taken = 0;
  for (let number = from; number < from + count; number++) {
    const body = Buffer.from(number % 2 === 0 ? `even ${number}` : `odd ${number}`);
    const refused = to === 'narrow' && channel.connection.vhost.queues.get(to)!.length >= 3;
    channel.publish('', to, {}, body);
    if (!refused) taken++;
  }
  return taken;
}

/** @returns how many were acked */
function settle(channel: Channel, queue: string, how: string, count: number): number {
  let acked = 0;
  for (let nth = 0; nth < count; nth++) {
    const got = channel.get(queue);
    if (got === undefined) break;
    if (how === 'reject' && queue !== 'dead') channel.reject(got.deliveryTag, false);
    else if (how !== 'ack') channel.nack(got.deliveryTag, false, true);
    else {
      channel.ack(got.deliveryTag);
      acked++;
    }
  }
  return acked;
}

/** A journal that stores nothing before its waiters are called. */
function slowJournal() {
  const waiting: (() => void)[] = [];
  const commits: string[][] = [];
  let moves: string[] = [];
  let sequence = 0;
  const journal: Journal = {
    get sequence() {
      return sequence;
    },
    refuses: () => false,
    changed: nothing,
    enqueued: ({ name }) => void (sequence++, moves.push(`+${name}`)),
    delivered: nothing,
    returned: nothing,
    died: nothing,
    settled: ({ name }) => void (sequence++, moves.push(`-${name}`)),
    commit: (synced) => {
      if (moves.length > 0) commits.push(moves);
      moves = [];
      if (synced !== undefined) waiting.push(synced);
    },
  };
  return { journal, waiting, commits };
}

describe('with a journal', () => {
  it('a redrive is completed when the journal has all that moved, and a batch is one commit', () => {
    const { journal, waiting, commits } = slowJournal();
    const { clock, channel, depth, redrive } = arrange(journal);
    for (let number = 0; number < 3; number++) channel.publish('', 'dead', { deliveryMode: 2 }, Buffer.from('x'));
    commits.length = 0;
    const task = redrive({ to: { exchange: '', routingKey: 'work' } });
    clock.advance(1_000);
    expect([depth('work'), task.counts.moved, task.state]).toEqual([3, 3, 'running']);
    expect(commits).toEqual([['-dead', '+work', '-dead', '+work', '-dead', '+work']]);
    for (const synced of waiting.splice(0)) synced();
    expect(task.state).toBe('done');
  });

  it('a redrive without a rate waits for the journal when a few thousand messages have moved', () => {
    const { journal, waiting } = slowJournal();
    const { clock, channel, redrive } = arrange(journal);
    for (let number = 0; number < 9_000; number++) channel.publish('', 'dead', { deliveryMode: 2 }, Buffer.from('x'));
    const task = redrive({ to: { exchange: '', routingKey: 'work' }, rate: Infinity });
    for (const moved of [4_096, 8_192, 9_000]) {
      clock.advance(1_000);
      expect([task.counts.moved, task.state]).toEqual([moved, 'running']);
      for (const synced of waiting.splice(0)) synced();
    }
    expect(task.state).toBe('done');
  });
});
