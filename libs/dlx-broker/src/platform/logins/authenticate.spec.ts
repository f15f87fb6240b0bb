import { describe, expect, it } from 'vitest';
import { harness } from '../../nest/testing/harness.js';
import { isLoopback, usersOf } from './logins.js';
import { hashPassword } from './password.js';

describe('a login', () => {
  const { broker } = harness();
  broker.access.setUser('guest', { passwordHash: hashPassword('guest') });
  broker.access.setUser('ada', { passwordHash: hashPassword('secret') });
  broker.access.setUser('locked');
  const login = usersOf(broker.access);

  it.each([
    ['ada', 'secret', true, true],
    ['ada', 'secret', false, true],
    ['ada', 'guest', true, false],
    ['guest', 'guest', true, true],
    ['guest', 'guest', false, false],
    ['locked', '', true, false],
    ['nobody', '', true, false],
    ['__proto__', 'x', true, false],
  ])('as %s with %j (local: %s): %s', (user, password, isLocal, expected) => {
    expect(login({ user, password, isLocal })).toBe(expected);
  });

  it.each([
    ['127.0.0.1', true],
    ['127.1.2.3', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['10.0.0.1', false],
    ['::ffff:10.0.0.1', false],
    [undefined, false],
  ])('from %s is local: %s', (address, expected) => expect(isLoopback(address)).toBe(expected));
});
