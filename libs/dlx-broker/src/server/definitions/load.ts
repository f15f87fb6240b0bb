import type { ManagementHost } from '../host.js';
import { checkNesting, type JsonObject } from '../http/body.js';
import { badRequest } from '../http/reply.js';
import { longestTurn } from '../http/turns.js';
import { Management } from '../management.js';
import { declarationKeys, existingVhost, importBroker, importVhost, listIn, partKeys } from './import.js';

const space = /[ \t\n\r]*/y;
const comma = /[ \t\n\r]*,/y;
const colon = /[ \t\n\r]*:/y;
const brace = /[ \t\n\r]*\{/y;
const closingBrace = /[ \t\n\r]*\}/y;
const bracket = /[ \t\n\r]*\[/y;
const closingBracket = /[ \t\n\r]*\]/y;
const quote = /[ \t\n\r]*"/y;
// All characters but control characters, the quote and the backslash. A pattern for a whole string fails for long ones.
const characters = /[ !#-[\]-\uffff]+/y;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const closingQuote = /"/y;
const scalar = /[ \t\n\r]*(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)/y;

/**
 * Where a text stops being JSON: the line and the column of the first value, comma or bracket that does not fit. The errors of
 * `JSON.parse` have no place in all versions of Node, and quote the text, which may hold a password.
 * @param text that `JSON.parse` refuses. Its nesting is limited by the caller
 */
export function jsonFault(text: string): string {
  let at = 0;
  const took = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };
  const string = (): boolean => {
    if (!took(quote)) return false;
    const start = at - 1;
    while (took(characters) || took(escape));
    if (took(closingQuote)) return true;
    at = start;
    return false;
  };
  const members = (close: RegExp, member: () => boolean): boolean => {
    if (took(close)) return true;
    do if (!member()) return false;
    while (took(comma));
    return took(close);
  };
  const value = (): boolean => {
    if (string() || took(scalar)) return true;
    if (took(brace)) return members(closingBrace, () => string() && took(colon) && value());
    return took(bracket) && members(closingBracket, value);
  };
  value();
  took(space);
  const lines = text.slice(0, at).split('\n');
  const end = at === text.length ? ', where the text ends too early' : '';
  return `line ${lines.length}, column ${lines.at(-1)!.length + 1}${end}`;
}

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

interface Adding {
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
function addDefinitionsAtOnce(
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

/**
 * Adds the definitions of a file to a broker, as `POST /api/definitions` does.
 * @param text JSON in the format of RabbitMQ
 * @param withoutUsers called before the definitions are added, if they name no user
 * @returns the keys that no part of a broker has
 * @throws Problem whose message says what is wrong
 */
export function loadDefinitions(
  host: Pick<ManagementHost, 'broker' | 'now' | 'patterns'>,
  text: string,
  withoutUsers: () => void = () => {},
): readonly string[] {
  const definitions = addDefinitionsAtOnce(new Management(host), text, (read) => {
    if (listIn(read, 'users').length === 0) withoutUsers();
  });
  return Object.keys(definitions).filter((key) => !isKnown(key));
}

/** Keys of RabbitMQ that say where definitions come from. */
const origins = new Set([
  'rabbit_version',
  'rabbitmq_version',
  'rabbitmq_definition_format',
  'product_name',
  'product_version',
  'original_vhost_name',
  'original_cluster_name',
  'explanation',
  'description',
  'metadata',
]);

const isKnown = (key: string): boolean => origins.has(key) || partKeys.includes(key) || declarationKeys.includes(key);
