import { erlangJson, isUserLimit, type User, type UserLimits } from '../../engine/broker/index.js';
import { defaultHashing, hashPassword, parseStoredHash, storedHash } from '../../platform/logins/index.js';
import type { Row } from '../api/lists.js';
import { type JsonObject, textIn } from '../http/body.js';
import { badRequest } from '../http/reply.js';

/** A user as the API and definitions show it. The password hash is in the format of RabbitMQ. */
export function userToJson({ name, passwordHash, tags, limits = {} }: User): Row {
  const { hash, algorithm } = parseStoredHash(passwordHash ?? '');
  return { name, password_hash: hash, hashing_algorithm: algorithm, tags, limits };
}

/**
 * Tags, limits and password of a user. The password is `password`, or `password_hash` with or without
 * `hashing_algorithm`; without both, no password is accepted.
 * @throws Problem 400
 */
export function userOfJson(json: JsonObject): {
  readonly tags: readonly string[];
  readonly passwordHash: string | undefined;
  readonly limits: UserLimits | undefined;
} {
  const tags = tagsOf(json);
  const limits = limitsIn(json['limits']);
  const password = textIn(json, 'password');
  const hash = textIn(json, 'password_hash');
  if (password !== undefined && hash !== undefined) throw badRequest('both_password_and_password_hash_are_provided');
  if (password !== undefined) return { tags, limits, passwordHash: hashPassword(password) };
  if (hash === undefined || hash === '') return { tags, limits, passwordHash: undefined };
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(hash) || hash.length % 4 !== 0) throw badRequest(['not_base64', hash]);
  const algorithm = textIn(json, 'hashing_algorithm') ?? defaultHashing;
  return { tags, limits, passwordHash: storedHash({ hash, algorithm }) };
}

function limitsIn(value: unknown): UserLimits | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return userLimitsIn(value as JsonObject);
  throw badRequest('limits should be an object');
}

/** @throws Problem 400 with the reason of RabbitMQ for a value that is no limit */
export function userLimitsIn(values: JsonObject): UserLimits {
  for (const [name, value] of Object.entries(values)) {
    if (!isUserLimit(name)) {
      throw badRequest(`Unrecognised terms [{${erlangJson(name)},${erlangJson(value)}}] in user-limits`);
    }
    if (Number.isSafeInteger(value)) continue;
    throw badRequest(`${name} should be a number, actually was ${erlangJson(value)}`);
  }
  return values as UserLimits;
}

/** Tags as `"a, b"` or `["a", "b"]`. */
function tagsOf({ tags: value, name }: JsonObject): readonly string[] {
  if (value === undefined) {
    // Definitions name the user, and a request names it in its path.
    const text = typeof name === 'string' ? `tags_not_present: user '${name}' has no tags; write "tags":""` : undefined;
    throw badRequest('tags_not_present', text);
  }
  if (Array.isArray(value)) return value.map(String);
  if (typeof value !== 'string') throw badRequest('tags should be a string or a list of strings');
  return value
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
}
