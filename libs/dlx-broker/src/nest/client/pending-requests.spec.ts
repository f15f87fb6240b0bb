import { describe, expect, it } from 'vitest';
import { RequestTable } from './pending-requests.js';

const noCallback = (): void => undefined;
const prefix = 'aB3_-9x7';

describe('requests that wait', () => {
  it('are found by their ids, each of which is used once', () => {
    const pending = new RequestTable(prefix);
    const ids = new Set<string>();
    for (let round = 0; round < 3; round++) {
      const all = Array.from({ length: 20 }, () => pending.add(noCallback));
      for (const asked of all) {
        ids.add(asked.id);
        expect(pending.get(asked.id)).toBe(asked);
      }
      expect(pending.size).toBe(20);
      for (const asked of all) expect([pending.delete(asked), pending.delete(asked)]).toEqual([true, false]);
      for (const asked of all) expect(pending.get(asked.id)).toBeUndefined();
    }
    expect([ids.size, pending.size]).toEqual([60, 0]);
  });

  it('take no more places than requests wait at once, however many come within one tick', () => {
    const pending = new RequestTable(prefix);
    const waiting = Array.from({ length: 64 }, () => pending.add(noCallback));
    for (let count = 0; count < 50_000; count++) {
      const place = (count * 7) % 64;
      pending.delete(waiting[place]!);
      waiting[place] = pending.add(noCallback);
    }
    expect([pending.size, pending.places]).toEqual([64, 64]);
    for (const asked of waiting) expect(pending.get(asked.id)).toBe(asked);
  });

  it('leave few places behind after a wave', () => {
    const pending = new RequestTable(prefix);
    for (const asked of Array.from({ length: 10_000 }, () => pending.add(noCallback))) pending.delete(asked);
    expect([pending.size, pending.places]).toEqual([0, 0]);
    const next = pending.add(noCallback);
    expect(pending.get(next.id)).toBe(next);
  });

  it('are not found by an id that is like theirs', () => {
    const pending = new RequestTable(prefix);
    const asked = pending.add(noCallback);
    const others = ['', prefix, `${prefix}0`, `${prefix}0.`, `${prefix}0.2`, `${asked.id}0`, ` ${asked.id}`];
    others.push(`${prefix}-1.1`, `${prefix}.1`, `${prefix}99999999999999999999.1`, `${prefix}length`, '__proto__');
    for (const id of others) expect([id, pending.get(id)]).toEqual([id, undefined]);
  });

  it('may have ids of the application, also such as look like one of the client', () => {
    const pending = new RequestTable(prefix);
    const named = [`${prefix}0.1`, 'order-1', '__proto__'].map((id) => pending.add(noCallback, id));
    const ours = pending.add(noCallback);
    expect(ours.id).not.toBe(`${prefix}0.1`);
    for (const asked of [...named, ours]) {
      expect(pending.get(asked.id)).toBe(asked);
      expect(() => pending.add(noCallback, asked.id)).toThrow(`'${asked.id}' waits already`);
    }
    expect(pending.size).toBe(4);
    for (const asked of [...named, ours]) expect(pending.delete(asked)).toBe(true);
    expect(pending.size).toBe(0);
  });

  it('are taken in the order in which they came', () => {
    const pending = new RequestTable(prefix);
    const [first, second] = [pending.add(noCallback), pending.add(noCallback)];
    pending.delete(first);
    const named = pending.add(noCallback, 'named');
    const third = pending.add(noCallback);
    expect(pending.takeAll()).toEqual([second, named, third]);
    expect([pending.size, pending.takeAll(), pending.delete(second)]).toEqual([0, [], false]);
  });
});
