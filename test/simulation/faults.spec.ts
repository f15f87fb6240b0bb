import { describe, expect, it } from 'vitest';
import { eachOnce, fixedPlan, task } from './fixed-plan.js';
import type { Fault } from './plan.js';
import { simulate, type Simulation } from './simulation.js';

const load = [
  ...eachOnce,
  ...Array.from({ length: 40 }, (_, index) => task(`m${index}`, 1_200 + 100 * index, 'event')),
];

/** Faults in the middle of the load, and what shows that they had an effect. */
const cases: readonly (readonly [string, Fault, (simulation: Simulation) => boolean])[] = [
  ['a cut on the way to the server', { kind: 'cut', at: 2_000, up: true, frames: 2, bytes: 5 }, reconnected],
  ['a cut on the way to the client', { kind: 'cut', at: 2_000, up: false, frames: 1, bytes: 3 }, reconnected],
  ['a connection whose bytes no longer reach the server', { kind: 'swallow', at: 2_000, up: true }, reconnected],
  ['a connection whose bytes no longer reach the client', { kind: 'swallow', at: 2_000, up: false }, reconnected],
  ['slow bytes to the server', { kind: 'drip', at: 2_000, up: true, bytes: 5, pause: 2 }, stayed],
  ['slow bytes to the client', { kind: 'drip', at: 2_000, up: false, bytes: 5, pause: 2 }, stayed],
  ['a connection that stands still', { kind: 'stall', at: 2_000, up: false, length: 2_000 }, stayed],
  ['a memory alarm', { kind: 'alarm', at: 2_000, length: 4_000 }, wasBlocked],
  [
    'a killed server',
    { kind: 'server', at: 2_000, how: 'killed', duringWork: false, vanishes: false, length: 1_000 },
    reconnected,
  ],
  [
    'a power cut',
    { kind: 'server', at: 2_000, how: 'power cut', duringWork: true, vanishes: true, length: 1_000 },
    reconnected,
  ],
  ['a killed replica', { kind: 'replica', at: 2_000, vanishes: false, length: 500 }, reconnected],
  ['a replica whose machine is gone', { kind: 'replica', at: 2_000, vanishes: true, length: 500 }, reconnected],
  ['a replica that is stopped', { kind: 'stop', at: 2_000, length: 500 }, reconnected],
];

describe('a simulated application survives', () => {
  it.each(cases)('%s', async (_, fault, hadEffect) => {
    const worlds: Simulation[] = [];
    const { violation, trace } = await simulate(1, {
      keepsTrace: true,
      change: () => fixedPlan(load, [fault]),
      begun: (simulation) => void worlds.push(simulation),
    });
    expect(violation?.message, trace.slice(-40).join('\n')).toBeUndefined();
    expect(hadEffect(worlds[0]!)).toBe(true);
  });

  it('nothing at all: each message is delivered once, at its time', async () => {
    const { violation, counts } = await simulate(1, { change: () => fixedPlan(eachOnce) });
    expect(violation).toBeUndefined();
    // acked, parked, rejected, delayed, small: 1 each; forwarded, retried and requeued: 2; poison: 3.
    expect(counts).toMatchObject({ deliveries: 14, duplicates: 0, kills: 0 });
  });

  it('a stop in the middle of each republish: the successor has taken the place of its message', async () => {
    const tasks = [
      task('forwarded', 3_000, 'queue', 'forward'),
      task('retried', 3_000, 'event', 'ack', 1),
      task('poison', 3_000, 'queue', 'ack', 3),
      task('parked', 3_000, 'event', 'park'),
    ];
    for (let at = 3_030; at <= 3_500; at += 20) {
      const plan = fixedPlan(tasks, [{ kind: 'stop', at, length: 100 }]);
      const slow = { ...plan.conditions, latency: [20, 20] } as const;
      const server = { ...plan.server, canReplace: false };
      const { violation, trace, counts } = await simulate(1, {
        keepsTrace: true,
        change: () => ({ ...plan, server, conditions: slow }),
      });
      expect(violation?.message, `${at} ms: ${trace.slice(-40).join('\n')}`).toBeUndefined();
      expect(counts['deliveries']).toBeGreaterThanOrEqual(8); // forwarded, retried: 2 each; poison: 3; parked: 1
    }
  });

  it('a stop under a memory alarm: a delayed publish whose declaration waits has its outcome when the backend is closed', async () => {
    const faults: readonly Fault[] = [
      { kind: 'alarm', at: 1_000, length: 20_000 },
      { kind: 'stop', at: 2_600, length: 500 },
    ];
    const tasks = [task('first', 1_600, 'event'), task('later', 1_700, 'delayed')];
    const { violation } = await simulate(1, { change: () => fixedPlan(tasks, faults) });
    expect(violation?.message).toBeUndefined();
  });
});

function reconnected({ network }: Simulation): boolean {
  return network.count === 2;
}

function stayed({ network }: Simulation): boolean {
  return network.count === 1;
}

function wasBlocked({ world, network }: Simulation): boolean {
  return network.count === 1 && world.trace.lines.some((line) => line.includes('connection.blocked'));
}
