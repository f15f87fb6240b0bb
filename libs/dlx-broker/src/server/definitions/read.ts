import { checkNesting } from '../http/body.js';
import { longestTurn } from '../http/turns.js';
import type { Management } from '../management.js';
import { badRequest } from '../http/reply.js';
import type { JsonObject } from '../http/json-object.js';
import { existingVhost, importBroker, importVhost } from './import.js';
import { jsonFault } from './json-fault.js';

/**
 * The object of definitions; an empty text is an empty object.
 * @param placeIn finds the fault in a text that is no JSON, for the message of the error
 * @throws Problem 400
 */
function readDefinitions(given: string, placeIn?: (text: string) => string): JsonObject {
  if (given.trim() === '') return {};
  checkNesting(given);
  const text = given.replace(/^\uFEFF/, '');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw badRequest(unreadable, placeIn && `${unreadable} at ${placeIn(text)}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badRequest(unreadable, `${unreadable}: definitions are an object, such as {"queues":[]}`);
  return value as JsonObject;
}

const unreadable = 'failed_to_parse_json';

export interface Adding {
  /** The virtual host into which they are imported, whichever they name. */
  readonly vhost?: string;
  /** The importing user, who gets permissions in new virtual hosts. */
  readonly maker?: string;
}

/**
 * Adds definitions in turns, in the order of RabbitMQ: each part comes before the parts that need it, so a pause leaves
 * no object without its policy. As in RabbitMQ, the parts before an error have been added.
 * @throws Problem 400 or 404
 */
export async function addDefinitions(management: Management, text: string, adding: Adding = {}): Promise<void> {
  const { turns } = management.dlx;
  const work = added(management, readDefinitions(text), adding);
  for (let isDone = false; !isDone;) {
    const began = turns.now();
    management.broker.batch(() => {
      do isDone = work.next().done === true;
      while (!isDone && turns.now() - began < longestTurn);
    });
    if (!isDone) await turns.next();
  }
}

/**
 * Adds definitions at once and in one command, before clients connect.
 * @param prepare called with the definitions before they are added
 * @returns the definitions
 * @throws Problem 400
 */
export function addDefinitionsAtOnce(
  management: Management,
  text: string,
  prepare: (definitions: JsonObject) => void,
): JsonObject {
  const definitions = readDefinitions(text, jsonFault);
  prepare(definitions);
  management.broker.batch(() => whole(added(management, definitions, {})));
  return definitions;
}

function* added(
  management: Management,
  definitions: JsonObject,
  { vhost, maker }: Adding,
): Generator<void, void, void> {
  if (vhost === undefined) yield* importBroker(management, definitions, maker);
  else yield* importVhost(management, existingVhost(management, vhost), definitions);
}

/** Runs work to its end without a pause. */
function whole<T>(work: Iterator<void, T, void>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}
