import { describe, expect, it } from 'vitest';
import { house } from '../testing/house.js';
import { hashPassword, isLoopback, usersOf, verifyPassword } from './authenticate.js';

describe('a password', () => {
  it('is kept salted, as RabbitMQ keeps it', () => {
    // The example of RabbitMQ's own guide to passwords.
    const salt = Buffer.from('908DC60A', 'hex');
    expect(hashPassword('test12', salt)).toBe('kI3GCqW5JLMJa4iX1lo7X4D6XbYqlLgxIs30+P6tENUV2POR');
    expect(hashPassword('secret')).not.toBe(hashPassword('secret'));
  });

  it('fits its own hash and no other', () => {
    const hash = hashPassword('secret');
    expect(verifyPassword('secret', hash)).toBe(true);
    for (const wrong of ['', 'Secret', 'secret ', hash]) expect(verifyPassword(wrong, hash)).toBe(false);
    for (const odd of ['', 'AAAA', 'no base64!']) expect(verifyPassword('secret', odd)).toBe(false);
  });

  it('is nobody’s when it is empty', () => {
    expect(verifyPassword('', hashPassword(''))).toBe(false);
  });
});

describe('a login', () => {
  const { broker } = house();
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
