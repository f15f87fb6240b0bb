import { describe, expect, it } from 'vitest';
import { eachOnce, fixedPlan } from './fixed-plan.js';
import { simulate, type Simulation } from './simulation.js';
import type { Wire } from './wire.js';

type Way = 'up' | 'down';

/** Runs the fixed plan, with something done to its first connection. */
async function withFirst(act: (wire: Wire) => void): Promise<Wire> {
  const wires: Wire[] = [];
  const opened = ({ network, oracle }: Simulation): void => {
    oracle.lastFault = 0;
    oracle.isDisturbed = true;
    network.opened = (wire) => {
      if (wires.push(wire) === 1) act(wire);
    };
  };
  const { violation, trace } = await simulate(7, { change: () => fixedPlan(eachOnce), begun: opened });
  expect(violation?.message, trace.slice(-40).join('\n')).toBeUndefined();
  return wires[0] as Wire;
}

describe.each(['up', 'down'] as const)('a connection that is cut on its way %s', (way: Way) => {
  it('after each of its frames: nothing is lost', { timeout: 120_000 }, async () => {
    const whole = await withFirst(() => undefined);
    const { frames } = whole[way];
    expect(frames).toBeGreaterThan(50);
    for (let frame = 0; frame <= frames; frame++) await withFirst((wire) => wire[way].cutAfter(frame, 0));
  });
});
