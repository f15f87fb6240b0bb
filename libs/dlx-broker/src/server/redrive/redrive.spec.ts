import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../testing.js';
import { BatchBreaker, type Breaker, WindowBreaker } from './breakers.js';
import { RedriveCounts } from './counts.js';
import { Batches, Pacing } from './pacing.js';
import { Redrive } from './redrive.js';

/** A mover of numbers: it moves what may go at each call, and counts what a test says came back. */
class Numbers extends Redrive {
  back = 0;
  readonly seen: string[] = [];

  constructor(
    readonly clock: ManualClock,
    breaker?: Breaker,
    rate = 10,
  ) {
    const batches = breaker && (Batches.for(rate, 4) ?? Batches.steady(4));
    super({
      clock,
      pacing: new Pacing(rate, clock.now()),
      counts: new RedriveCounts(),
      breaker,
      batches,
      pollInterval: 1_000,
    });
  }

  /** @returns how many went */
  turn(most = Infinity): number {
    const count = Math.min(this.allowed(this.clock.now()), most);
    this.rules.pacing.spend(count);
    for (let each = 0; each < count; each++) this.redriven(this.clock.now());
    this.counts.moved += count;
    return count;
  }

  /** @param reason undefined: the target takes messages again */
  targetIs(reason: string | undefined): void {
    if (reason === undefined) this.targetIsReady();
    else this.waitForTarget(reason);
  }

  returnedNow(count: number): void {
    this.returned(count);
  }

  complete(): boolean {
    return this.end('done');
  }

  protected override changed(): void {
    this.seen.push(this.state);
  }

  protected override countReturned(seen: (count: number) => void): void {
    const { back } = this;
    this.back = 0;
    seen(back);
  }
}

const arrange = (breaker?: Breaker, rate?: number) => new Numbers(new ManualClock(), breaker, rate);

describe('a redrive, whatever moves its messages,', () => {
  it('does not count the time of a rest: the next message is due as long after it', () => {
    const redrive = arrange();
    expect([redrive.turn(), redrive.turn()]).toEqual([1, 0]);
    redrive.clock.advance(30);
    expect([redrive.pause(), redrive.pause()]).toEqual([true, false]);
    redrive.clock.advance(60_000);
    expect([redrive.resume(), redrive.turn()]).toEqual([true, 0]);
    redrive.clock.advance(69);
    expect(redrive.turn()).toBe(0);
    redrive.clock.advance(1);
    expect(redrive.turn()).toBe(1);
  });

  it('stops itself until an operator resumes it, and cannot be paused meanwhile', () => {
    const redrive = arrange(new WindowBreaker({ percent: 50, atLeast: 4 }), Infinity);
    expect(redrive.turn()).toBe(4);
    redrive.returnedNow(2);
    expect(redrive.state).toBe('running'); // half may come back
    redrive.returnedNow(1);
    expect([redrive.state, redrive.reason]).toEqual(['waiting', 'more than 50 % of what was redriven came back dead']);
    redrive.clock.advance(600_000);
    expect([redrive.pause(), redrive.state, redrive.resume()]).toEqual([false, 'waiting', true]);
    redrive.returnedNow(0);
    expect([redrive.state, redrive.reason, redrive.counts.returned]).toEqual(['running', undefined, 3]);
  });

  it('continues by itself where its breaker says so, unless it was paused meanwhile', () => {
    const redrive = arrange(new BatchBreaker(0.5, 5_000), Infinity);
    redrive.turn();
    redrive.returnedNow(2);
    expect(redrive.state).toBe('waiting'); // just the share that may not
    redrive.clock.advance(4_999);
    expect(redrive.state).toBe('waiting');
    redrive.clock.advance(1);
    expect([redrive.state, redrive.turn()]).toEqual(['running', 4]);
    redrive.returnedNow(4);
    expect(redrive.pause()).toBe(true);
    redrive.clock.advance(60_000);
    expect(redrive.seen).toEqual(['waiting', 'running', 'waiting', 'paused']);
  });

  it('goes in batches when it is fast: the next one is twice as large and waits for a second', () => {
    const redrive = arrange(new WindowBreaker({ percent: 50, atLeast: 4 }), Infinity);
    const went = [redrive.turn(), redrive.turn()];
    redrive.clock.advance(999);
    went.push(redrive.turn());
    redrive.clock.advance(1);
    expect([...went, redrive.turn(3), redrive.turn(), redrive.turn()]).toEqual([4, 0, 0, 3, 5, 0]);
  });

  it('counts for a minute after its end what comes back, and not once it is closed', () => {
    const redrive = arrange(new BatchBreaker(0.5, 5_000));
    const { clock } = redrive;
    expect([redrive.complete(), redrive.complete(), redrive.cancel()]).toEqual([true, false, false]);
    expect(redrive.watchedUntil).toBe(clock.now() + 60_000);
    redrive.back = 2;
    clock.advance(1_000);
    expect([redrive.counts.returned, redrive.state]).toEqual([2, 'done']);
    redrive.close();
    redrive.back = 2;
    clock.advance(60_000);
    expect([redrive.counts.returned, redrive.watchedUntil, clock.nextWakeUp()]).toEqual([
      2,
      clock.now() - 60_000,
      undefined,
    ]);
  });
});

describe('a redrive whose target takes nothing', () => {
  const strict: Breaker = { reason: 'too many came back', redriven: () => {}, returned: () => {}, isOpen: () => true };

  it('waits, and goes on by itself', () => {
    const task = arrange();
    task.targetIs('circuit is open');
    expect([task.state, task.reason]).toEqual(['waiting', 'circuit is open']);
    task.targetIs(undefined);
    expect(task.state).toBe('running');
  });

  it('stays stopped when its own breaker stopped it before', () => {
    const task = arrange(strict);
    task.returnedNow(1);
    task.targetIs('circuit is open');
    task.targetIs(undefined);
    expect([task.state, task.reason]).toEqual(['waiting', 'too many came back']);
  });

  it('stays stopped when its own breaker stops it after an operator resumed it', () => {
    const task = arrange(strict);
    task.targetIs('circuit is open');
    task.resume();
    task.returnedNow(1);
    task.targetIs(undefined);
    expect([task.state, task.reason]).toEqual(['waiting', 'too many came back']);
  });

  it('waits again when it is resumed too early, and stays paused when it is paused meanwhile', () => {
    const task = arrange();
    task.targetIs('circuit is open');
    task.resume();
    task.targetIs('circuit is open');
    expect(task.state).toBe('waiting');
    expect(task.pause()).toBe(true);
    task.targetIs(undefined);
    expect(task.state).toBe('paused');
  });
});
