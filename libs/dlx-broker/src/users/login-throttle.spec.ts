import { describe, expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.js';
import { LoginThrottle } from './login-throttle.js';

function arrange() {
  const clock = new ManualClock();
  const throttle = new LoginThrottle(() => clock.now());
  const fail = (times: number, address = '10.0.0.1', user = 'ada'): void => {
    for (let time = 0; time < times; time++) throttle.tried(address, user, false);
  };
  const wait = (address = '10.0.0.1', user = 'ada'): number => throttle.refusedFor(address, user);
  return { clock, throttle, fail, wait };
}

describe('failed logins', () => {
  it('a few are forgiven, then each makes the wait twice as long, up to a minute', () => {
    const { clock, fail, wait } = arrange();
    fail(4);
    expect(wait()).toBe(0);
    const waits = Array.from({ length: 9 }, () => {
      fail(1);
      const time = wait();
      clock.advance(time);
      return time;
    });
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  it('the wait ends to the millisecond', () => {
    const { clock, fail, wait } = arrange();
    fail(5);
    clock.advance(999);
    expect(wait()).toBe(1);
    clock.advance(1);
    expect(wait()).toBe(0);
  });

  it('neither the same user elsewhere nor another user here has to wait', () => {
    const { fail, wait } = arrange();
    fail(20);
    expect(wait('10.0.0.2', 'ada')).toBe(0);
    expect(wait('10.0.0.1', 'bob')).toBe(0);
  });

  it('who guesses names instead of passwords is stopped too', () => {
    const { throttle, wait } = arrange();
    for (let name = 0; name < 50; name++) throttle.tried('10.0.0.1', `user-${name}`, false);
    expect(wait('10.0.0.1', 'somebody')).toBe(1_000);
    expect(wait('10.0.0.2', 'somebody')).toBe(0);
  });

  it('a program with an old password that never gives up shuts out nobody else', () => {
    const { clock, throttle, wait } = arrange();
    for (let minute = 0; minute < 1_000; minute++) {
      if (wait('127.0.0.1', 'old') === 0) throttle.tried('127.0.0.1', 'old', false);
      clock.advance(60_000);
    }
    expect(wait('127.0.0.1', 'guest')).toBe(0);
    throttle.tried('127.0.0.1', 'old', false);
    expect(wait('127.0.0.1', 'old')).toBe(60_000);
  });

  it('a success clears the user, but not what else the address did', () => {
    const { clock, throttle, fail, wait } = arrange();
    fail(4);
    throttle.tried('10.0.0.1', 'ada', true);
    fail(4);
    expect(wait()).toBe(0);
    for (let name = 0; name < 42; name++) {
      throttle.tried('10.0.0.1', `user-${name}`, false);
      throttle.tried('10.0.0.1', 'own', true);
    }
    expect(wait('10.0.0.1', 'somebody')).toBe(1_000);
    clock.advance(1_000);
    expect(wait('10.0.0.1', 'somebody')).toBe(0);
  });

  it('are forgotten after a quarter of an hour of quiet', () => {
    const { clock, fail, wait } = arrange();
    fail(10);
    clock.advance(15 * 60_000 + 1);
    fail(4);
    expect(wait()).toBe(0);
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

  it('from ever more addresses do not fill the memory, and an attacker is not forgotten for newcomers', () => {
    const { fail, wait } = arrange();
    for (let last = 0; last < 30_000; last++) {
      fail(1, `10.${last >> 16}.${(last >> 8) & 255}.${last & 255}`);
      if (last % 1_000 === 0) fail(5, '192.0.2.1');
    }
    expect(wait('192.0.2.1')).toBeGreaterThan(0);
    fail(4, '10.0.0.0');
    expect(wait('10.0.0.0')).toBe(0);
  });
});
