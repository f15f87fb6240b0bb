import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { defaultHashing, hashPassword, parseStoredHash, storedHash, verifyPassword } from './password.js';

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

  it('authenticates no user when it is empty', () => {
    expect(verifyPassword('', hashPassword(''))).toBe(false);
  });

  it('may be hashed otherwise, as imported users are', () => {
    const md5 = { hash: 'kI3GChWnkphVX1L3pBPGeqZ6sG4=', algorithm: 'rabbit_password_hashing_md5' };
    expect(parseStoredHash(storedHash(md5))).toEqual(md5);
    const bare = { hash: hashPassword('secret'), algorithm: defaultHashing };
    expect(storedHash(bare)).toBe(bare.hash);
    for (const [algorithm, digest] of [
      ['rabbit_password_hashing_sha512', 'sha512'],
      ['rabbit_password_hashing_md5', 'md5'],
    ] as const) {
      const salt = Buffer.from('908DC60A', 'hex');
      const hash = Buffer.concat([salt, createHash(digest).update(salt).update('secret').digest()]).toString('base64');
      expect(verifyPassword('secret', storedHash({ hash, algorithm }))).toBe(true);
      expect(verifyPassword('Secret', storedHash({ hash, algorithm }))).toBe(false);
    }
  });

  it('hashed by something that is not known here fits nothing', () => {
    expect(verifyPassword('secret', storedHash({ hash: hashPassword('secret'), algorithm: 'bcrypt' }))).toBe(false);
  });
});
