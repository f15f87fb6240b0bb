import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../testing/manual-clock.js';
import { Park, RetryLater, Unavailable } from '../../core/outcomes.js';
import { Circuit, type CircuitChange, type Waiting } from './circuit.js';
import { type CircuitOptions, resolveCircuit } from './options.js';

class BankDown extends Error {}

function arrange(
  options: CircuitOptions = { on: BankDown },
  retries: (error: unknown) => boolean = () => true,
  ask?: () => Promise<boolean>,
) {
  const clock = new ManualClock();
  const changes: string[] = [];
  const faults: unknown[] = [];
  const circuit = new Circuit('bank', resolveCircuit(options, 'a test'), {
    clock,
    random: () => 0.5,
    isUnretryable: () => false,
    ask,
    changed: (_, { kind, isAgain }: CircuitChange) => changes.push(isAgain ? `${kind} again` : kind),
    fault: (_, error) => faults.push(error),
    broken: (_, error) => faults.push(error),
    textOf: String,
  });
  const retry = { retries } as never;
  const fail = (error: unknown = new BankDown('away'), epoch = circuit.begin(), holds = 0) => {
    const hold = circuit.failed({ error, retry, epoch, holds });
    circuit.ended(epoch);
    return hold;
  };
  const succeed = (epoch = circuit.begin()): void => {
    circuit.succeeded(epoch);
    circuit.ended(epoch);
  };
  return { clock, circuit, changes, faults, fail, succeed };
}

describe('a circuit', () => {
  it('trips after ten thousand successes, when half of the last minute failed', () => {
    const { clock, circuit, fail, succeed } = arrange({ on: BankDown, atLeast: 20 });
    for (let done = 0; done < 10_000; done++) succeed();
    for (let failed = 0; failed < 100; failed++) fail();
    expect(circuit.state).toBe('closed');
    clock.advance('61s');
    for (let failed = 0; failed < 19; failed++) fail();
    expect(circuit.state).toBe('closed');
    fail();
    expect(circuit.state).toBe('open');
  });

  it('opens for longer each time a probe fails, and begins anew after a success', () => {
    const { clock, circuit, changes, fail, succeed } = arrange({ on: BankDown, atLeast: 1 });
    const pauses: number[] = [];
    for (let turn = 0; turn < 7; turn++) {
      fail();
      pauses.push(circuit.pause);
      clock.advance(circuit.pause);
    }
    expect(pauses).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
    expect(changes.slice(0, 4)).toEqual(['opened', 'probing', 'opened again', 'probing']);
    succeed();
    expect([circuit.state, changes.at(-1), circuit.reason, circuit.nextProbe]).toEqual([
      'closed',
      'closed',
      undefined,
      undefined,
    ]);
    fail();
    expect(circuit.pause).toBe(10_000);
  });

  it('needs as many successes in a row as it says', () => {
    const { clock, circuit, fail, succeed } = arrange({ on: BankDown, atLeast: 1, probes: 3, pause: '1s' });
    fail();
    clock.advance('1s');
    succeed();
    succeed();
    expect(circuit.state).toBe('probing');
    fail();
    clock.advance('1s');
    succeed();
    succeed();
    expect(circuit.state).toBe('probing');
    succeed();
    expect(circuit.state).toBe('closed');
  });

  it('ignores what began before it opened: neither a late failure nor a late success moves it', () => {
    const { clock, circuit, fail, succeed } = arrange({ on: BankDown, atLeast: 1 });
    const early = circuit.begin();
    fail();
    clock.advance('10s');
    expect(circuit.state).toBe('probing');
    expect(fail(new BankDown(), early)).toEqual({ wait: 10_000, isCounted: false });
    succeed(early);
    expect([circuit.state, circuit.pause]).toEqual(['probing', 10_000]);
  });

  it('lets one message through while it probes; others wait in hand for its outcome', () => {
    const { clock, circuit, fail, succeed } = arrange({ on: BankDown, atLeast: 1 });
    const happened: string[] = [];
    const message = (name: string): Waiting => ({
      run: () => void happened.push(`${name} runs`),
      hold: () => void happened.push(`${name} is held`),
    });
    fail();
    expect(circuit.admits(message('early'))).toBe(false);
    clock.advance('10s');
    expect(circuit.admits(message('first'))).toBe(true);
    const epoch = circuit.begin();
    expect(circuit.admits(message('second'))).toBe(false);
    fail(new BankDown(), epoch);
    expect(happened).toEqual(['early is held', 'second is held']);
    clock.advance('20s');
    expect(circuit.admits(message('third'))).toBe(true);
    const next = circuit.begin();
    expect([circuit.admits(message('fourth')), circuit.admits(message('fifth'))]).toEqual([false, false]);
    succeed(next);
    expect(happened.slice(2)).toEqual(['fourth runs', 'fifth runs']);
  });

  it('tries the next message after one that says nothing about the service', () => {
    const { clock, circuit, fail } = arrange({ on: BankDown, atLeast: 1 });
    let ran = 0;
    fail();
    clock.advance('10s');
    const epoch = circuit.begin();
    circuit.admits({ run: () => ran++, hold: () => undefined });
    expect(fail(new Park('no'), epoch)).toBeUndefined();
    expect([circuit.state, ran]).toEqual(['probing', 1]);
  });

  it('tries the next message in hand when the one before is not handled: its queue is gone, or no handler can read it', () => {
    const { clock, circuit, fail } = arrange({ on: BankDown, atLeast: 1 });
    const ran: string[] = [];
    const handled = (): void => {
      ran.push('handled');
      circuit.begin();
    };
    fail();
    clock.advance('10s');
    const epoch = circuit.begin();
    for (const run of [() => ran.push('gone'), handled, () => ran.push('too early')]) {
      expect(circuit.admits({ run: () => void run(), hold: () => undefined })).toBe(false);
    }
    circuit.ended(epoch);
    expect([circuit.state, ran]).toEqual(['probing', ['gone', 'handled']]);
  });

  it('ends the consumers before it holds what is in hand, for a consumer with room gets further messages', () => {
    const { clock, circuit, changes, fail } = arrange({ on: BankDown, atLeast: 1 });
    const seen: (readonly string[])[] = [];
    fail();
    clock.advance('10s');
    const epoch = circuit.begin();
    circuit.admits({ run: () => undefined, hold: () => void seen.push([...changes]) });
    fail(new BankDown(), epoch);
    expect(seen).toEqual([['opened', 'probing', 'opened again']]);
  });

  it.each(['run', 'hold', 'leave'] as const)('goes on when a message in hand throws in %s', (what) => {
    const { clock, circuit, faults, fail, succeed } = arrange({ on: BankDown, atLeast: 1 });
    const done: string[] = [];
    const message = (name: string): Waiting => {
      const end = (): void => {
        done.push(name);
        throw new Error(name);
      };
      return { run: end, hold: end, leave: end };
    };
    fail();
    clock.advance('10s');
    const epoch = circuit.begin();
    for (const name of ['one', 'two', 'three']) circuit.admits(message(name));
    if (what === 'run') succeed(epoch);
    else if (what === 'hold') fail(new BankDown(), epoch);
    else circuit.close();
    expect([done, faults.map(String)]).toEqual([
      ['one', 'two', 'three'],
      ['Error: one', 'Error: two', 'Error: three'],
    ]);
    expect(circuit.state).toBe({ run: 'closed', hold: 'open', leave: 'probing' }[what]);
  });

  it('tries nothing after the end of the application, when a handler in hand opens it', () => {
    const { clock, circuit, fail } = arrange({ on: BankDown, atLeast: 1 });
    const epoch = circuit.begin();
    circuit.close();
    expect(fail(new BankDown(), epoch)).toEqual({ wait: 10_000, isCounted: true });
    expect([circuit.state, clock.nextWakeUp()]).toEqual(['open', undefined]);
  });

  it.each([true, false])(
    'tries nothing after the end of the application, when its probe answers %s then',
    async (isUp) => {
      const answers: ((isUp: boolean) => void)[] = [];
      const ask = () => new Promise<boolean>((resolve) => answers.push(resolve));
      const { clock, circuit, fail } = arrange({ on: BankDown, atLeast: 1 }, undefined, ask);
      fail();
      circuit.tryNow();
      circuit.close();
      expect(answers.length).toBe(1);
      answers[0]?.(isUp);
      await Promise.resolve();
      expect([circuit.state, clock.nextWakeUp()]).toEqual(['open', undefined]);
    },
  );

  it('counts holds only while it is closed, and no more than it allows', () => {
    const { circuit, fail } = arrange({ on: BankDown, atLeast: 2, holds: 3 });
    expect(fail(new BankDown(), circuit.begin(), 2)).toEqual({ wait: 10_000, isCounted: true });
    expect(fail(new BankDown(), circuit.begin(), 3)).toBeUndefined();
    expect(circuit.state).toBe('closed');
    expect(fail()).toEqual({ wait: 10_000, isCounted: true }); // this one opens it
    expect(fail(new BankDown(), circuit.begin(), 3)).toEqual({ wait: 10_000, isCounted: false });
  });

  it.each([
    ['an error that `on` does not name', { on: BankDown, atLeast: 1 }, new Error('a bug')],
    ['RetryLater', { atLeast: 1 }, new RetryLater(0)],
    ['Park', { atLeast: 1 }, new Park('no')],
  ])('takes %s for an ordinary failure', (_, options, error) => {
    const { circuit, fail } = arrange(options);
    expect([fail(error), circuit.state]).toEqual([undefined, 'closed']);
  });

  it('without `on` counts what the policy would retry, and holds only what opens it and what comes later', () => {
    const { circuit, fail } = arrange({ atLeast: 2 }, (error) => !(error instanceof TypeError));
    expect([fail(new TypeError()), fail(new Error()), circuit.state]).toEqual([undefined, undefined, 'closed']);
    expect(fail(new Error())).toEqual({ wait: 10_000, isCounted: true });
    expect([fail(new Error()), fail(new TypeError())]).toEqual([{ wait: 10_000, isCounted: false }, undefined]);
  });

  it('rounds a wait that no option names up to a step, and keeps one that an option names', () => {
    const { clock, circuit, fail } = arrange({ pause: ['7s', '13s'], on: BankDown, atLeast: 1 });
    fail(new Unavailable('away', '37s'));
    expect(circuit.pause).toBe(40_000);
    clock.advance('40s');
    fail();
    expect(circuit.pause).toBe(13_000);
  });

  it('knows for how long it was not closed', () => {
    const { clock, circuit, fail, succeed } = arrange({ on: BankDown, atLeast: 1 });
    const start = clock.now();
    clock.advance('1m');
    fail();
    clock.advance('10s');
    expect([circuit.outageSince(start), circuit.outageSince(clock.now())]).toEqual([10_000, 0]);
    succeed();
    clock.advance('1m');
    expect([circuit.outageSince(start), circuit.outageSince(start + 65_000)]).toEqual([10_000, 5_000]);
  });

  it('reports a function `on` that throws, and goes on', () => {
    const on = (): boolean => {
      throw new Error('a bug');
    };
    const { circuit, faults, fail } = arrange({ on, atLeast: 1 });
    expect([fail(), circuit.state, faults.length]).toEqual([undefined, 'closed', 1]);
  });
});

describe('options of a circuit', () => {
  it.each([
    [{ share: 0 }, /share: 0 is no share; write a number above 0, up to 1/],
    [{ share: 1.1 }, /share: 1\.1 is no share/],
    [{ atLeast: 0 }, /atLeast: 0 is less than 1/],
    [{ within: 0 }, /within: 0 is 0, in which nothing can happen/],
    [{ within: 'soon' }, /within: 'soon' is not a duration/],
    [{ pause: 0 }, /pause is 0; write at least 1 ms/],
    [{ pause: [] }, /pause is an empty list/],
    [{ pause: () => 5 }, /pause: function pause is a function; write '10s'/],
    [
      { pause: { type: 'exponential', delay: '1s' } },
      /pause before attempt \d+ is longer than ten years; write pause\.max/,
    ],
    [{ pause: { type: 'linear', delay: '1s' } }, /pause needs more than 64 different delays/],
    [{ pause: { type: 'expo', delay: '1s' } }, /pause\.type is 'expo'/],
    [{ probes: '2' as never }, /probes: '2' is a string; write the number 2$/],
    [{ probes: 0 }, /probes: 0 is less than 1/],
    [{ probe: class {} }, /probe: .* is no class with a method isUp\(\)/],
    [{ probe: () => true }, /probe: .* is no class with a method isUp\(\)/],
    [{ holds: -1 }, /holds: -1 is less than 0/],
    [{ on: 'BankDown' }, /on: 'BankDown' is neither a class of errors nor a function/],
    [{ pasue: '1s' }, /'pasue' is no option; did you mean 'pause'\?/],
    ['bank', /'bank' is not an object of options/],
  ])('%j are refused', (options, reason) => {
    expect(() => resolveCircuit(options as CircuitOptions, "circuit 'bank'")).toThrow(reason);
    expect(() => resolveCircuit(options as CircuitOptions, "circuit 'bank'")).toThrow("circuit 'bank'");
  });
});
