import type { Access } from '../broker/index.js';
import { hashPassword, verifyPassword } from './password.js';

/** A login that a client tries. */
export interface Login {
  readonly user: string;
  readonly password: string;
  /** Whether the client is on this machine. */
  readonly isLocal: boolean;
}

/** Says whether that is the user it claims to be. */
export type Authenticate = (login: Login) => boolean;

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

/** Whether an address is one of this machine's own. */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  return plain === '::1' || plain.startsWith('127.');
}
