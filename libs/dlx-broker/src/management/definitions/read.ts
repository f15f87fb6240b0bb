import { checkNesting } from '../body.js';
import type { Management } from '../management.js';
import { badRequest } from '../reply.js';
import type { JsonObject } from '../resource.js';
import { existingVhost, importBroker, importVhost } from './import.js';

/** The object that definitions are; nothing at all is an empty one. @throws Problem 400 */
export function readDefinitions(text: string): JsonObject {
  if (text.trim() === '') return {};
  checkNesting(text);
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw badRequest('failed_to_parse_json');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badRequest('failed_to_parse_json');
  return value as JsonObject;
}

export interface Adding {
  /** Into this virtual host, whatever they say themselves. */
  readonly vhost?: string;
  /** Who brings them, if that is a user: to whom new virtual hosts are open. */
  readonly maker?: string;
}

/** @throws Problem 400 or 404 */
export function addDefinitions(management: Management, text: string, { vhost, maker }: Adding = {}): void {
  const definitions = readDefinitions(text);
  // One command: policies and what they apply to become true together.
  management.broker.batch(() => {
    if (vhost === undefined) importBroker(management, definitions, maker);
    else importVhost(management, existingVhost(management, vhost), definitions);
  });
}
