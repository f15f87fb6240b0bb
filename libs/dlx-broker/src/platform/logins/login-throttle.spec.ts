import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../nest/testing/manual-clock.js';
import { LoginThrottle } from './login-throttle.js';

function arrange() {
  const clock = new ManualClock();
  const throttle = new LoginThrottle(() => clock.now());
  const guess = (address: string, user: string, kept?: string) => ({ address, user, kept });
  /** As often as asked, each after its wait; the waits of all of them are over when it is done. */
  const fail = (times: number, address = '10.0.0.1', user = 'ada', kept?: string): number[] =>
    Array.from({ length: times }, () => {
      const { wait = 0 } = throttle.turn(guess(address, user, kept));
      clock.advance(wait);
      if (wait > 0) throttle.leave(address);
      throttle.failed(guess(address, user, kept), wait > 0);
      return wait;
    });
  const succeed = (address = '10.0.0.1', user = 'ada'): void => throttle.succeeded(guess(address, user));
  /** What an attempt at this moment would have to wait. */
  const wait = (address = '10.0.0.1', user = 'ada', kept?: string): number | undefined => {
    const turn = throttle.turn(guess(address, user, kept));
    if (turn.wait !== undefined && turn.wait > 0) throttle.leave(address);
    return turn.wait;
  };
  return { clock, throttle, fail, succeed, wait, guess };
}

describe('failed logins', () => {
  it('a few are forgiven, then there is one a second', () => {
    expect(arrange().fail(10)).toEqual([0, 0, 0, 0, 0, 1_000, 1_000, 1_000, 1_000, 1_000]);
  });

  it('the wait ends to the millisecond', () => {
    const { clock, fail, wait } = arrange();
    fail(5);
    clock.advance(999);
    expect(wait()).toBe(1);
    clock.advance(3_000);
    expect(wait()).toBe(0);
  });

  it('those that come together wait one behind the other, and none longer than five seconds', () => {
    const { fail, throttle, guess, clock } = arrange();
    fail(5);
    const waits = Array.from({ length: 8 }, () => throttle.turn(guess('10.0.0.1', 'ada')).wait);
    expect(waits).toEqual([1_000, 2_000, 3_000, 4_000, 5_000, 5_000, 5_000, 5_000]);
    expect(throttle.waiting).toBe(8);
    for (const _ of waits) throttle.leave('10.0.0.1');
    clock.advance(10_000);
    expect(throttle.waiting).toBe(0);
    expect(throttle.turn(guess('10.0.0.1', 'ada'))).toEqual({ wait: 0 });
  });

  it('neither the same user elsewhere nor another user here has to wait', () => {
    const { fail, wait } = arrange();
    fail(20);
    expect(wait('10.0.0.2', 'ada')).toBe(0);
    expect(wait('10.0.0.1', 'bob')).toBe(0);
  });

  it('a client that guesses names instead of passwords is slow too, twenty names a second', () => {
    const { fail, wait } = arrange();
    for (let name = 0; name < 50; name++) fail(1, '10.0.0.1', `user-${name}`);
    expect(fail(1, '10.0.0.1', 'another')).toEqual([50]);
    expect(wait('10.0.0.2', 'ada')).toBe(0);
  });

  it('a user who logged in at such an address does not wait with the others', () => {
    const { fail, succeed, wait } = arrange();
    for (let name = 0; name < 60; name++) fail(1, '10.0.0.1', `user-${name}`);
    expect(wait()).toBeGreaterThan(0);
    succeed();
    expect(wait()).toBe(0);
    expect(wait('10.0.0.1', 'bob')).toBeGreaterThan(0);
  });

  it('a program that retries an old password for ever slows no other client', () => {
    const { fail, wait } = arrange();
    fail(1_000, '127.0.0.1', 'old');
    expect(wait('127.0.0.1', 'guest')).toBe(0);
    expect(wait('127.0.0.1', 'old')).toBeGreaterThan(0);
  });

  it('say nothing any more once the user exists, or has another password', () => {
    const { fail, wait } = arrange();
    fail(20, '10.0.0.1', 'late');
    expect(wait('10.0.0.1', 'late')).toBeGreaterThan(0);
    expect(wait('10.0.0.1', 'late', 'hash')).toBe(0);
    fail(20, '10.0.0.1', 'late', 'hash');
    expect(wait('10.0.0.1', 'late', 'hash')).toBeGreaterThan(0);
    expect(wait('10.0.0.1', 'late', 'another')).toBe(0);
  });

  it('a success clears the user', () => {
    const { fail, succeed, wait } = arrange();
    fail(5);
    succeed();
    expect(wait()).toBe(0);
    expect(fail(5)).toEqual([0, 0, 0, 0, 0]);
  });

  it('of addresses in one IPv6 network count together', () => {
    const { fail, wait } = arrange();
    fail(3, '2001:db8:1:2::1');
    fail(3, '2001:db8:1:2:aaaa:bbbb:cccc:dddd');
    expect(wait('2001:db8:1:2:3::')).toBeGreaterThan(0);
    expect(wait('2001:db8:1:3::1')).toBe(0);
    fail(5, '::ffff:10.0.0.9');
    expect(wait('10.0.0.9')).toBeGreaterThan(0);
    fail(5, '::1');
    expect(wait('::1')).toBeGreaterThan(0);
  });

  it('from ever more addresses do not fill the memory, and an attacker is not forgotten for new clients', () => {
    const { fail, wait } = arrange();
    for (let last = 0; last < 30_000; last++) {
      fail(1, `10.${last >> 16}.${(last >> 8) & 255}.${last & 255}`);
      if (last % 1_000 === 0) fail(6, '192.0.2.1');
    }
    expect(wait('192.0.2.1')).toBeGreaterThan(0);
    fail(4, '10.0.0.0');
    expect(wait('10.0.0.0')).toBe(0);
  });

  it('with names made up at one address do not make it forget others', () => {
    const { throttle, fail, wait, guess } = arrange();
    fail(5, '192.0.2.1');
    for (let name = 0; name < 30_000; name++) throttle.failed(guess('10.0.0.1', `made-up-${name}`), false);
    expect(wait('192.0.2.1')).toBeGreaterThan(0);
  });

  it('of one address and of all wait in bounded numbers; others are not refused for it', () => {
    const { throttle, fail, guess } = arrange();
    fail(5);
    const waits = Array.from({ length: 100 }, () => throttle.turn(guess('10.0.0.1', 'ada')).wait);
    expect(waits.filter((wait) => wait === undefined)).toHaveLength(36);
    expect(throttle.turn(guess('10.0.0.1', 'bob'))).toEqual({ wait: 0 });
    for (let network = 2; network < 40; network++) {
      fail(5, `10.0.0.${network}`);
      for (let count = 0; count < 64; count++) throttle.turn(guess(`10.0.0.${network}`, 'ada'));
    }
    expect(throttle.waiting).toBe(1_000);
    expect(throttle.turn(guess('10.0.0.99', 'ada'))).toEqual({ wait: 0 });
  });
});
