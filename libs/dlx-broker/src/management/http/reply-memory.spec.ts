import { describe, expect, it } from 'vitest';
import { ReplyMemory } from './reply-memory.js';

function arrange() {
  const world = { now: 0 };
  const limits = { unreadOfUser: 100, unread: 250, madeAtATime: 2, timeout: 1_000 };
  const memory = new ReplyMemory(limits, () => world.now);
  const { signal } = new AbortController();
  /** @returns the reply's end, or its refusal, once there is one */
  const turn = (user: string, abort = signal) => {
    const seen: { made?: () => void; refused?: string } = {};
    void memory.turn(user, abort).then(
      (made) => void (seen.made = made),
      (error: Error) => void (seen.refused = error.message),
    );
    return seen;
  };
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { world, memory, turn, settle };
}

describe('replies', () => {
  it('are made two at a time for one user, in the order they were asked for', async () => {
    const { turn, settle } = arrange();
    const [a, b, c, d] = [turn('ada'), turn('ada'), turn('ada'), turn('ada')];
    const other = turn('bob');
    await settle();
    expect([a, b, c, d, other].map(({ made }) => made !== undefined)).toEqual([true, true, false, false, true]);
    a.made?.();
    a.made?.();
    await settle();
    expect([c, d].map(({ made }) => made !== undefined)).toEqual([true, false]);
  });

  it('wait while too much of the same user is not read, and not for others', async () => {
    const { memory, turn, settle } = arrange();
    const read = memory.hold('ada', 120);
    const [ada, bob] = [turn('ada'), turn('bob')];
    await settle();
    expect([ada.made, bob.made].map((made) => made !== undefined)).toEqual([false, true]);
    read();
    await settle();
    expect(ada.made).toBeDefined();
  });

  it('wait for all users when it is too much in all, and are refused after a while', async () => {
    const { world, memory, turn, settle } = arrange();
    const reads = [memory.hold('ada', 200), memory.hold('bob', 60)];
    const eve = turn('eve');
    const late = turn('late');
    world.now = 999;
    memory.check();
    await settle();
    expect(eve).toEqual({});
    reads[1]?.();
    memory.check();
    await settle();
    expect(eve.made).toBeDefined();
    expect(late.made).toBeDefined();
    const ada = turn('ada');
    world.now = 2_000;
    memory.check();
    await settle();
    expect(ada.refused).toMatch(/have not been read/);
  });

  it('for clients that have gone have no turn', async () => {
    const { memory, turn, settle } = arrange();
    const read = memory.hold('ada', 120);
    const abort = new AbortController();
    const gone = turn('ada', abort.signal);
    abort.abort();
    await settle();
    expect(gone.refused).toBeDefined();
    read();
    expect(memory.bytes).toBe(0);
  });
});
