import { badRequest } from '../http/reply.js';
import type { JsonObject } from '../http/json-object.js';

/**
 * A list of objects in definitions.
 * @throws Problem 400 for another value
 */
export function listIn(definitions: JsonObject, key: string): readonly JsonObject[] {
  const list = definitions[key] ?? [];
  const isObject = (each: unknown): boolean => typeof each === 'object' && each !== null && !Array.isArray(each);
  if (Array.isArray(list) && list.every(isObject)) return list as readonly JsonObject[];
  throw badRequest(`${key} should be a list of objects`);
}
