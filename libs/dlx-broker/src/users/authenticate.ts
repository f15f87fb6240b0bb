import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Access } from '../broker/index.js';

/** Somebody wants in. */
export interface Login {
  readonly user: string;
  readonly password: string;
  /** Whether the client is on this machine. */
  readonly isLocal: boolean;
}

/** Says whether that is the user it claims to be. */
export type Authenticate = (login: Login) => boolean;

const saltSize = 4;

/** Compared with when there is no such user, so that guessing names takes as long as guessing passwords. */
const nobody = hashPassword('');

/** Asks the users of a broker. The well-known user `guest` is let in from this machine only. */
export function usersOf(access: Access): Authenticate {
  return ({ user, password, isLocal }) => {
    const hash = access.user(user)?.passwordHash;
    const matches = verifyPassword(password, hash ?? nobody);
    return matches && hash !== undefined && (isLocal || user !== 'guest');
  };
}

/** A salted hash as RabbitMQ keeps it: base64 of four bytes of salt and the SHA-256 of salt and password. */
export function hashPassword(password: string, salt: Uint8Array = randomBytes(saltSize)): string {
  const digest = createHash('sha256').update(salt).update(password).digest();
  return Buffer.concat([salt, digest]).toString('base64');
}

/** Compares in constant time. An empty password is nobody's (rule of RabbitMQ's own login). */
export function verifyPassword(password: string, hash: string): boolean {
  const known = Buffer.from(hash, 'base64');
  const claimed = Buffer.from(hashPassword(password, known.subarray(0, saltSize)), 'base64');
  return known.length === claimed.length && timingSafeEqual(known, claimed) && password !== '';
}

/** Whether an address is one of this machine's own. */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  return plain === '::1' || plain.startsWith('127.');
}
