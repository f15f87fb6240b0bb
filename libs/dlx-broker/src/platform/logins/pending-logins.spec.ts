import { describe, expect, it } from 'vitest';
import { PendingLogins } from './pending-logins.js';

function arrange() {
  const world = { now: 0, dropped: [] as string[] };
  const pending = new PendingLogins({ ofAddress: 3, all: 6, idleTimeout: 1_000 }, () => world.now);
  const arrive = (name: string, address = '10.0.0.1') => pending.add(address, () => void world.dropped.push(name));
  return { world, pending, arrive };
}

describe('clients that have not logged in', () => {
  it('of one address: the one that has been silent longest makes room', () => {
    const { world, pending, arrive } = arrange();
    for (const name of ['a', 'b', 'c']) arrive(name);
    world.now = 1_000;
    arrive('d');
    arrive('e', '10.0.0.2');
    expect(world.dropped).toEqual(['a']);
    expect(pending.count).toBe(4);
  });

  it('that come together have their time to speak', () => {
    const { world, arrive } = arrange();
    for (let count = 0; count < 50; count++) arrive(`${count}`);
    expect(world.dropped).toEqual([]);
    world.now = 1_000;
    arrive('late');
    expect(world.dropped).toHaveLength(48);
  });

  it('of many addresses are bounded in all', () => {
    const { world, pending, arrive } = arrange();
    for (let count = 0; count < 6; count++) arrive(`${count}`, `10.0.0.${count}`);
    world.now = 1_000;
    arrive('late', '10.0.0.9');
    expect(world.dropped).toEqual(['0']);
    expect(pending.count).toBe(6);
  });

  it('that are being answered are not dropped, and are silent from then on', () => {
    const { world, arrive } = arrange();
    const a = arrive('a');
    for (const name of ['b', 'c']) arrive(name);
    a.busy();
    world.now = 1_000;
    arrive('d');
    expect(world.dropped).toEqual(['b']);
    a.idle();
    world.now = 1_500;
    arrive('e');
    expect(world.dropped).toEqual(['b', 'c']);
  });

  it('that logged in or went do not count', () => {
    const { world, pending, arrive } = arrange();
    for (let count = 0; count < 100; count++) {
      const one = arrive(`${count}`);
      one.busy();
      one.remove();
      one.remove();
      one.idle();
      world.now += 10_000;
    }
    expect([world.dropped, pending.count, pending.closeOldest()]).toEqual([[], 0, false]);
  });

  it('make room at once where the port is full', () => {
    const { world, pending, arrive } = arrange();
    arrive('a');
    arrive('b', '10.0.0.2');
    expect(pending.closeOldest()).toBe(true);
    expect([world.dropped, pending.count]).toEqual([['a'], 1]);
  });
});
