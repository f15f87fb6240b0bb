import type { Access } from '../../engine/broker/index.js';
import { hashPassword, verifyPassword } from './password.js';

/** A login that a client tries. */
export interface Login {
  readonly user: string;
  readonly password: string;
  /** Whether the client is on this machine. */
  readonly isLocal: boolean;
}

/** Decides about a login. @returns true when name and password are right */
export type Authenticate = (login: Login) => boolean;

/** Compares with the users of a broker. The well-known user `guest` may log in from this machine only. */
export function usersOf(access: Access): Authenticate {
  /** The password of a user who does not exist, so that an unknown name takes as long to refuse as a wrong password. */
  let noUser: string | undefined;
  return ({ user, password, isLocal }) => {
    noUser ??= hashPassword(''); // not at the import: the first hash of a process takes a millisecond
    const hash = access.user(user)?.passwordHash;
    const matches = verifyPassword(password, hash ?? noUser);
    return matches && hash !== undefined && (isLocal || user !== 'guest');
  };
}

/** True for an address of this machine. */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  return plain === '::1' || plain.startsWith('127.');
}
