import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** RabbitMQ's names of the hash algorithms, and Node's names of the same. */
const algorithms: ReadonlyMap<string, string> = new Map([
  ['rabbit_password_hashing_sha256', 'sha256'],
  ['rabbit_password_hashing_sha512', 'sha512'],
  ['rabbit_password_hashing_md5', 'md5'],
]);
export const defaultHashing = 'rabbit_password_hashing_sha256';

/** A stored password, as definitions carry it. */
export interface HashedPassword {
  /** Base64 of four bytes of salt and the digest of salt and password. */
  readonly hash: string;
  /** RabbitMQ's name; a hash with an unknown name accepts no password. */
  readonly algorithm: string;
}

const saltSize = 4;

/** A salted hash as RabbitMQ keeps it: base64 of four bytes of salt and the SHA-256 of salt and password. */
export function hashPassword(password: string, salt: Uint8Array = randomBytes(saltSize)): string {
  return digestOf(password, salt, 'sha256').toString('base64');
}

const digestOf = (password: string, salt: Uint8Array, algorithm: string): Buffer =>
  Buffer.concat([salt, createHash(algorithm).update(salt).update(password).digest()]);

/**
 * Compares in constant time. An empty password is refused (rule of RabbitMQ's own login). @param stored see {@link storedHash}
 */
export function verifyPassword(password: string, stored: string): boolean {
  const { hash, algorithm } = stored === '' ? { hash: '', algorithm: defaultHashing } : parseStoredHash(stored);
  const known = Buffer.from(hash, 'base64');
  const claimed = digestOf(password, known.subarray(0, saltSize), algorithms.get(algorithm) ?? 'sha256');
  const matches = known.length === claimed.length && timingSafeEqual(known, claimed);
  return matches && password !== '' && algorithms.has(algorithm);
}

/** The stored form of a password: the hash, with its algorithm in front unless it is the default. */
export const storedHash = ({ hash, algorithm }: HashedPassword): string =>
  algorithm === defaultHashing ? hash : `${algorithm}:${hash}`;

/** The reverse of {@link storedHash}. Base64 has no colon, so the first colon ends the algorithm. */
export function parseStoredHash(stored: string): HashedPassword {
  const colon = stored.lastIndexOf(':');
  return colon < 0
    ? { hash: stored, algorithm: defaultHashing }
    : { hash: stored.slice(colon + 1), algorithm: stored.slice(0, colon) };
}
