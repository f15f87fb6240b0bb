import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { minConsumerTimeout, minDeadLetterRetryAfter, type ProfileName } from '../../engine/broker/index.js';
import { bytesIn, didYouMean, parseDuration } from '../../platform/options/index.js';
import type { Durability } from '../../store/index.js';
import { CommandError } from '../command-error.js';
import { boolean, list, numberOrText, type Shape, simple, text } from './shapes.js';

/** The levels of the log on standard error. */
export const logLevels = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof logLevels)[number];
const durabilities: readonly Durability[] = ['fsync', 'os', 'none'];
const profileNames: readonly ProfileName[] = ['3.10', '4'];

const bothOfTls = (): string => 'TLS needs both --tls-cert and --tls-key';

/** The errors of options without those that they need. */
const missing = {
  http: (option: string): string => `${option} is about the port of --http`,
  data: (option: string): string => `${option} is about the directory of --data, which is not given`,
  tlsCert: bothOfTls,
  tlsKey: bothOfTls,
};

/** What an option takes. */
interface Kind<Value> {
  /** The value in the configuration file; undefined: the file has no such key. */
  readonly key: Shape | undefined;
  /** @param where the option, for the error @throws CommandError */
  readonly read: (given: never, where: string) => Value;
}

/** An option of `serve`. */
export interface ServeOption<Value = unknown> extends Kind<Value> {
  /** As on the command line, with the value it takes. */
  readonly flag: string;
  readonly says: string;
  /** The option without which this one has no effect. */
  readonly needs: keyof typeof missing | undefined;
}

const option = <Value>(
  kind: Kind<Value>,
  flag: string,
  says: string,
  needs?: ServeOption['needs'],
): ServeOption<Value> => ({ ...kind, flag, says, needs });

const address = { key: text, read: hostAndPort };
const directory = { key: text, read: named('a directory') };
const file = { key: text, read: named('a file') };
const contents = { key: text, read: contentsOf };
const asText = { key: text, read: (path: string, where: string) => contentsOf(path, where).toString() };
const authority = { key: text, read: authorityIn };
const names = { key: list(text), read: namesOf };
const flag = { key: boolean, read: (given: boolean) => given };
const settings = { key: undefined, read: (path: string) => path };
const bytes = { key: numberOrText('a number of bytes, or a string such as 64MiB'), read: bytesOf };
const memory = {
  key: numberOrText('a share such as 0.4, a number of bytes, or a string such as 600MB'),
  read: memoryOf,
};
const timeout = { key: numberOrText('milliseconds, a string such as 30m, or none'), read: timeoutOf };
const time = { key: numberOrText('milliseconds, or a string such as 5s'), read: retryAfterOf };
const level = { key: text, read: oneOf(logLevels) };
const durability = { key: text, read: oneOf(durabilities) };
// YAML reads 3.10 as the number 3.1, so only a string is accepted.
const quoted = simple("a string such as '3.10' or '4', in quotes", (value) => typeof value === 'string');
const version = { key: quoted, read: oneOf(profileNames) };

/** A row for each option. The names are the keys of the configuration file. */
export const serveOptions = {
  amqp: option(address, '--amqp <HOST:PORT>', 'address for clients; port 0 is any free port (default: 127.0.0.1:5672)'),
  http: option(
    address,
    '--http <HOST:PORT>',
    'address of the management API (default: none; RabbitMQ uses port 15672)',
  ),
  httpHosts: option(
    names,
    '--http-hosts <NAMES>',
    'names of this machine in HTTP requests, separated by commas',
    'http',
  ),
  console: option(flag, '--no-console', 'serve the HTTP API without the console', 'http'),
  edits: option(
    flag,
    '--edits',
    'let users with the tag editor or administrator edit messages over HTTP (default: no user may)',
    'http',
  ),
  metrics: option(
    address,
    '--metrics <HOST:PORT>',
    'address for Prometheus, without a login (default: none; RabbitMQ uses port 15692)',
  ),
  audit: option(file, '--audit <FILE>', 'append the actions of operators over HTTP to this file', 'http'),
  definitions: option(
    asText,
    '--definitions <FILE>',
    'import definitions at the start: JSON as RabbitMQ or ctl export_definitions writes it',
  ),
  data: option(directory, '--data <DIR>', 'keep durable queues in this directory (default: everything is in memory)'),
  durability: option(
    durability,
    '--durability <HOW>',
    'what a confirm waits for: fsync, os or none (default: fsync)',
    'data',
  ),
  messageMemory: option(
    bytes,
    '--message-memory <BYTES>',
    'memory for messages, such as 256MB (default: 64MiB)',
    'data',
  ),
  diskFreeLimit: option(
    bytes,
    '--disk-free-limit <BYTES>',
    'refuse publishes while less disk space is free (default: 50MiB)',
    'data',
  ),
  memoryLimit: option(
    memory,
    '--memory-limit <LIMIT>',
    'publishers wait while more memory is in use: bytes such as 600MB, or a share such as 0.6 (default: 0.4)',
  ),
  config: option(settings, '--config <FILE>', 'a file in JSON or YAML with the same settings, users and limits'),
  tlsCert: option(contents, '--tls-cert <FILE>', 'use TLS (1.2 at least) with this certificate', 'tlsKey'),
  tlsKey: option(contents, '--tls-key <FILE>', 'the key of the certificate', 'tlsCert'),
  tlsCa: option(authority, '--tls-ca <FILE>', 'accept only clients with a certificate of this authority', 'tlsCert'),
  rabbitmq: option(version, '--rabbitmq <VERSION>', 'version of RabbitMQ to behave like: 3.10 or 4 (default: 4)'),
  consumerTimeout: option(
    timeout,
    '--consumer-timeout <TIME>',
    'how long a client may keep a message, such as 2h, or none; only in quorum queues, unless --rabbitmq is 3.10 (default: 30m)',
  ),
  deadLetterRetryAfter: option(
    time,
    '--dead-letter-retry-after <TIME>',
    'when an at-least-once dead letter that did not arrive is published again, such as 5s (default: 3m)',
  ),
  logLevel: option(level, '--log-level <LEVEL>', `lines on standard error: ${logLevels.join(', ')} (default: info)`),
};

type Name = keyof typeof serveOptions;
/** The values of the options that are given. */
export type Values = { readonly [Key in Name]?: ReturnType<(typeof serveOptions)[Key]['read']> };

/** The option without its value. */
export const optionOf = ({ flag }: ServeOption): string => flag.replace(/ .*/, '');

/** Reads what command line and configuration file say of the options. @throws CommandError */
export function valuesOf(given: Readonly<Record<string, unknown>>): Values {
  const rows = (Object.entries(serveOptions) as [Name, ServeOption][]).filter(([name]) => given[name] !== undefined);
  for (const [, row] of rows)
    if (row.needs !== undefined && given[row.needs] === undefined)
      throw new CommandError(missing[row.needs](optionOf(row)));
  return Object.fromEntries(rows.map(([name, row]) => [name, row.read(given[name] as never, optionOf(row))]));
}

function named(what: string): (given: string, where: string) => string {
  return (given, where) => {
    if (given !== '') return given;
    throw new CommandError(`${where} must name ${what}`);
  };
}

/** An empty name is a mistake: the host that it stands for would be refused. */
function namesOf(given: string | readonly string[], where: string): readonly string[] {
  const names = (typeof given === 'string' ? given.split(',') : given).map((name) => name.trim());
  if (!names.includes('')) return names;
  throw new CommandError(`${where} must be names with commas between them, but one of '${names.join(',')}' is empty`);
}

function contentsOf(file: string, where: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new CommandError(`${where} cannot be read: ${(error as Error).message}`);
  }
}

/** TLS itself would accept any value, and then refuse every client. */
function authorityIn(file: string, where: string): Buffer {
  const pem = contentsOf(file, where);
  try {
    void new X509Certificate(pem);
    return pem;
  } catch {
    throw new CommandError(`${where} ${file} is no certificate in PEM`);
  }
}

function hostAndPort(given: string, where: string): { readonly host: string; readonly port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)):([0-9]{1,5})$/.exec(given);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host === undefined || port > 65_535 || (match?.[1] !== undefined && isIP(host) !== 6))
    throw new CommandError(`${where} must be HOST:PORT, such as 127.0.0.1:5672 or [::1]:5672, but is '${given}'`);
  return { host, port };
}

function oneOf<T extends string>(known: readonly T[]): (given: string, where: string) => T {
  return (given, where) => {
    const found = known.find((one) => one === given);
    if (found !== undefined) return found;
    throw new CommandError(`${where} must be one of ${known.join(', ')}, but is '${given}'${didYouMean(given, known)}`);
  };
}

/** A number of bytes, or one with a unit: `500MB` are 500,000,000, `64MiB` 67,108,864. */
function bytesOf(given: string | number, where: string): number {
  const bytes = bytesIn(String(given));
  if (!Number.isNaN(bytes)) return bytes;
  throw new CommandError(`${where} must be a number of bytes such as 64MiB or 500MB, but is '${given}'`);
}

/** A share of memory up to 1, or bytes above it. */
function memoryOf(given: string | number, where: string): number {
  const words = String(given);
  const limit = /^(0?\.[0-9]+|1(\.0*)?)$/.test(words) ? Number(words) : bytesIn(words);
  if (limit > 0) return limit;
  throw new CommandError(`${where} must be a share of memory such as 0.4, or bytes such as 600MB, but is '${given}'`);
}

function retryAfterOf(given: string | number, where: string): number {
  const milliseconds = millisecondsOf(given, where, 'a time such as 5s');
  if (milliseconds >= minDeadLetterRetryAfter) return milliseconds;
  throw new CommandError(`${where} must be ${minDeadLetterRetryAfter} ms or more, but is '${given}'`);
}

/** @returns milliseconds; Infinity for `none` */
function timeoutOf(given: string | number, where: string): number {
  if (given === 'none') return Infinity;
  const milliseconds = millisecondsOf(given, where, 'a time such as 30m, or none');
  if (milliseconds >= minConsumerTimeout) return milliseconds;
  const hasUnit = String(given) !== String(milliseconds);
  const remedy = hasUnit ? '' : `; a number without a unit is in milliseconds: write ${given}s or ${given}m`;
  throw new CommandError(`${where} must be ${minConsumerTimeout} ms or more, or none, but is '${given}'${remedy}`);
}

function millisecondsOf(given: string | number, where: string, accepted: string): number {
  const words = String(given);
  if (/^[0-9]+$/.test(words)) return Number(words);
  try {
    return parseDuration(words, where);
  } catch {
    throw new CommandError(`${where} must be milliseconds, ${accepted}, but is '${words}'`);
  }
}
