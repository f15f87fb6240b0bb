import { readFileSync } from 'node:fs';
import { defaultLimits, type Limits } from '../amqp/server/index.js';
import type { Permissions } from '../engine/broker/index.js';
import type { ServedUser } from '../platform/logins/index.js';
import { Refusal } from './refusal.js';

/** The keys of a configuration file. A string has the same meaning as on the command line, which takes precedence. */
export interface Config {
  readonly amqp?: string;
  readonly http?: string;
  readonly httpHosts?: readonly string[];
  readonly console?: boolean;
  readonly edits?: boolean;
  readonly metrics?: string;
  readonly audit?: string;
  readonly definitions?: string;
  readonly data?: string;
  readonly durability?: string;
  /** Bytes: a number, or with a unit. */
  readonly messageMemory?: string | number;
  readonly diskFreeLimit?: string | number;
  /** A share of memory up to 1, or bytes. */
  readonly memoryLimit?: string | number;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsCa?: string;
  readonly rabbitmq?: string;
  /** Milliseconds, or a string such as `30m` or `none`. */
  readonly consumerTimeout?: string | number;
  readonly deadLetterRetryAfter?: string | number;
  readonly logLevel?: string;
  readonly virtualHosts?: readonly string[];
  readonly users?: readonly ServedUser[];
  readonly limits?: Partial<Limits>;
}

/** Reads a file in JSON or YAML. @throws Refusal saying what is wrong where */
export async function readConfig(file: string): Promise<Config> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new Refusal(`the configuration ${file} cannot be read: ${(error as Error).message}`);
  }
  // Most starts have no such file: they need not wait for the library.
  const { parse } = await import('yaml');
  try {
    return config.check(parse(text) ?? {}, file) as Config;
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const [line] = (error as Error).message.split('\n');
    throw new Refusal(`the configuration ${file} is neither JSON nor YAML: ${line}`);
  }
}

/** What a value has to be. */
interface Shape {
  /** @throws Refusal */
  check(value: unknown, where: string): unknown;
}

const simple = (what: string, fits: (value: unknown) => boolean): Shape => ({
  check(value, where) {
    if (!fits(value)) throw new Refusal(`${where} must be ${what}, but is ${JSON.stringify(value)}`);
    return value;
  },
});

const list = (of: Shape): Shape => ({
  check(value, where) {
    if (!Array.isArray(value)) throw new Refusal(`${where} must be a list, but is ${JSON.stringify(value)}`);
    return value.map((item, index) => of.check(item, `${where}[${index}]`));
  },
});

/** An object with these keys and no others. */
const object = (keys: Readonly<Record<string, Shape>>, required: readonly string[] = []): Shape => ({
  check(value, where) {
    const entries = entriesOf(value, where);
    for (const [key, item] of entries) {
      const shape = Object.hasOwn(keys, key) ? keys[key] : undefined;
      if (shape === undefined)
        throw new Refusal(`${where}: unknown key '${key}' (known: ${Object.keys(keys).join(', ')})`);
      shape.check(item, `${where}: ${key}`);
    }
    const missing = required.find((key) => !entries.some(([name]) => name === key));
    if (missing !== undefined) throw new Refusal(`${where}: ${missing} is missing`);
    return value;
  },
});

const record = (of: Shape): Shape => ({
  check(value, where) {
    for (const [key, item] of entriesOf(value, where)) of.check(item, `${where}.${key}`);
    return value;
  },
});

function entriesOf(value: unknown, where: string): [string, unknown][] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return Object.entries(value);
  throw new Refusal(`${where} must be an object, but is ${JSON.stringify(value)}`);
}

const text = simple('a string', (value) => typeof value === 'string');
const natural = simple(
  'a whole number, not negative',
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
);
const bytes = simple('a number of bytes, or a string such as 64MiB', (value) =>
  ['number', 'string'].includes(typeof value),
);
const rights: readonly (keyof Permissions)[] = ['configure', 'write', 'read'];
const permissions = object(Object.fromEntries(rights.map((right) => [right, text])), rights);
const user = object({ name: text, password: text, tags: list(text), permissions: record(permissions) }, [
  'name',
  'password',
]);
const limits = object(Object.fromEntries(Object.keys(defaultLimits).map((name) => [name, natural])));

const config = object({
  amqp: text,
  http: text,
  httpHosts: list(text),
  console: simple('true or false', (value) => typeof value === 'boolean'),
  edits: simple('true or false', (value) => typeof value === 'boolean'),
  metrics: text,
  audit: text,
  definitions: text,
  data: text,
  durability: text,
  messageMemory: bytes,
  diskFreeLimit: bytes,
  memoryLimit: simple('a share such as 0.4, a number of bytes, or a string such as 600MB', (value) =>
    ['number', 'string'].includes(typeof value),
  ),
  tlsCert: text,
  tlsKey: text,
  tlsCa: text,
  // YAML reads 3.10 as the number 3.1, so only a string is accepted.
  rabbitmq: simple("a string such as '3.10' or '4', in quotes", (value) => typeof value === 'string'),
  consumerTimeout: simple('milliseconds, a string such as 30m, or none', (value) =>
    ['number', 'string'].includes(typeof value),
  ),
  deadLetterRetryAfter: simple('milliseconds, or a string such as 5s', (value) =>
    ['number', 'string'].includes(typeof value),
  ),
  logLevel: text,
  virtualHosts: list(text),
  users: list(user),
  limits,
});
