import { afterEach, describe, expect, it, vi } from 'vitest';
import { Deque } from '../../engine/broker/index.js';
import { Message } from '../../engine/message/index.js';
import { Bodies } from './bodies.js';
import { Segments } from './segment.js';
import { MessageTable, slotOf } from './tables.js';

function arrange(firstPlace?: number) {
  const messages = new MessageTable();
  const bodies = new Bodies(messages, new Segments(), 1_000_000, firstPlace);
  const add = (): Message => {
    const message = new Message('', 'q', {}, Buffer.alloc(16));
    message.slot = slotOf(messages.add(0));
    bodies.add(message);
    return message;
  };
  return { bodies, add };
}

/** The most values of a deque, and the most shifts since the last push. */
function watchDeques() {
  const most = { length: 0, shifts: 0 };
  let shifts = 0;
  const { push, shift } = Deque.prototype;
  vi.spyOn(Deque.prototype, 'push').mockImplementation(function (this: Deque<unknown>, value) {
    push.call(this, value);
    most.length = Math.max(most.length, this.length);
    shifts = 0;
  });
  vi.spyOn(Deque.prototype, 'shift').mockImplementation(function (this: Deque<unknown>) {
    most.shifts = Math.max(most.shifts, ++shifts);
    return shift.call(this);
  });
  return most;
}

afterEach(() => vi.restoreAllMocks());

describe('the bodies in memory', () => {
  it('have few gaps between them while many come and go behind one that stays', () => {
    const { bodies, add } = arrange();
    const most = watchDeques();
    const staying = add();
    for (let count = 0; count < 20_000; count++) bodies.release(add());
    expect(most.length).toBeLessThan(1_100);
    expect(most.shifts).toBeLessThan(200);
    const { bytes } = bodies;
    bodies.release(staying);
    expect([bytes, bodies.bytes]).toEqual([176, 0]);
  });

  it('leave it also after 2^32 others', () => {
    const { bodies, add } = arrange(2 ** 32 - 2);
    const all = Array.from({ length: 5 }, add);
    for (const message of all) bodies.release(message);
    expect(bodies.bytes).toBe(0);
  });

  it('are paged out from the oldest on, over any gaps', () => {
    const { bodies, add } = arrange();
    const kept = Array.from({ length: 2_000 }, add);
    for (const [index, message] of kept.entries()) if (index % 3 > 0) bodies.release(message);
    const later = Array.from({ length: 5_700 }, add);
    expect(bodies.bytes).toBeGreaterThan(1_000_000 - 176);
    expect(bodies.bytes).toBeLessThanOrEqual(1_000_000);
    expect(kept.filter((message, index) => index % 3 === 0 && message.isLoaded)).toEqual([]);
    expect(later.filter(({ isLoaded }) => isLoaded)).toHaveLength(Math.floor(1_000_000 / 176));
  });
});
