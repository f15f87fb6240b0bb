import type { User } from '../../broker/index.js';
import { defaultHashing, hashPassword, keep, keptPassword } from '../../users/index.js';
import { textIn } from '../body.js';
import type { Row } from '../listing.js';
import { badRequest } from '../reply.js';
import type { JsonObject } from '../resource.js';

/** A user as the API and definitions show it; the hash is RabbitMQ's, so that users travel both ways. */
export function userToJson({ name, passwordHash, tags }: User): Row {
  const { hash, algorithm } = keptPassword(passwordHash ?? '');
  return { name, password_hash: hash, hashing_algorithm: algorithm, tags, limits: {} };
}

/**
 * Tags and password of a user: as `password`, as `password_hash` with or without `hashing_algorithm`, or neither, which
 * leaves nobody able to log in. @throws Problem 400
 */
export function userOfJson(json: JsonObject): {
  readonly tags: readonly string[];
  readonly passwordHash: string | undefined;
} {
  const tags = tagsOf(json['tags']);
  const password = textIn(json, 'password');
  const hash = textIn(json, 'password_hash');
  if (password !== undefined && hash !== undefined) throw badRequest('both_password_and_password_hash_are_provided');
  if (password !== undefined) return { tags, passwordHash: hashPassword(password) };
  if (hash === undefined || hash === '') return { tags, passwordHash: undefined };
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(hash) || hash.length % 4 !== 0) throw badRequest(['not_base64', hash]);
  const algorithm = textIn(json, 'hashing_algorithm') ?? defaultHashing;
  return { tags, passwordHash: keep({ hash, algorithm }) };
}

/** `"a, b"` or `["a", "b"]`. */
function tagsOf(value: unknown): readonly string[] {
  if (value === undefined) throw badRequest('tags_not_present');
  if (Array.isArray(value)) return value.map(String);
  if (typeof value !== 'string') throw badRequest('tags should be a string or a list of strings');
  return value
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
}
