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

/** An option of `serve`. */
export interface ServeOption<Value = unknown> {
  /** As on the command line, with the value it takes. */
  readonly flag: string;
  readonly says: string;
  readonly preset?: string;
  /** The option without which this one has no effect. */
  readonly needs?: keyof typeof missing;
  /** The value in the configuration file. `false`: the file has no such key. */
  readonly key: Shape | false;
  /** @param where the option, for the error @throws CommandError */
  readonly read: (given: never, where: string) => Value;
}

/** A row for each option. The names are the keys of the configuration file. */
export const serveOptions = {
  amqp: {
    flag: '--amqp <HOST:PORT>',
    says: 'address for clients; port 0 is any free port',
    preset: '127.0.0.1:5672',
    key: text,
    read: hostAndPort,
  },
  http: {
    flag: '--http <HOST:PORT>',
    says: 'address of the management API',
    preset: 'none; RabbitMQ uses port 15672',
    key: text,
    read: hostAndPort,
  },
  httpHosts: {
    flag: '--http-hosts <NAMES>',
    says: 'names of this machine in HTTP requests, separated by commas',
    needs: 'http',
    key: list(text),
    read: namesOf,
  },
  console: {
    flag: '--no-console',
    says: 'serve the HTTP API without the console',
    needs: 'http',
    key: boolean,
    read: asGiven<boolean>,
  },
  edits: {
    flag: '--edits',
    says: 'let users with the tag editor or administrator edit messages over HTTP',
    preset: 'no user may',
    needs: 'http',
    key: boolean,
    read: asGiven<boolean>,
  },
  metrics: {
    flag: '--metrics <HOST:PORT>',
    says: 'address for Prometheus, without a login',
    preset: 'none; RabbitMQ uses port 15692',
    key: text,
    read: hostAndPort,
  },
  audit: {
    flag: '--audit <FILE>',
    says: 'append the actions of operators over HTTP to this file',
    needs: 'http',
    key: text,
    read: named('a file'),
  },
  definitions: {
    flag: '--definitions <FILE>',
    says: 'import definitions at the start: JSON as RabbitMQ or ctl export_definitions writes it',
    key: text,
    read: (file: string, where: string) => contentsOf(file, where).toString(),
  },
  data: {
    flag: '--data <DIR>',
    says: 'keep durable queues in this directory',
    preset: 'everything is in memory',
    key: text,
    read: named('a directory'),
  },
  durability: {
    flag: '--durability <HOW>',
    says: 'what a confirm waits for: fsync, os or none',
    preset: 'fsync',
    needs: 'data',
    key: text,
    read: oneOf(durabilities),
  },
  messageMemory: {
    flag: '--message-memory <BYTES>',
    says: 'memory for messages, such as 256MB',
    preset: '64MiB',
    needs: 'data',
    key: numberOrText('a number of bytes, or a string such as 64MiB'),
    read: bytesOf,
  },
  diskFreeLimit: {
    flag: '--disk-free-limit <BYTES>',
    says: 'refuse publishes while less disk space is free',
    preset: '50MiB',
    needs: 'data',
    key: numberOrText('a number of bytes, or a string such as 64MiB'),
    read: bytesOf,
  },
  memoryLimit: {
    flag: '--memory-limit <LIMIT>',
    says: 'publishers wait while more memory is in use: bytes such as 600MB, or a share such as 0.6',
    preset: '0.4',
    key: numberOrText('a share such as 0.4, a number of bytes, or a string such as 600MB'),
    read: memoryLimitOf,
  },
  config: {
    flag: '--config <FILE>',
    says: 'a file in JSON or YAML with the same settings, users and limits',
    key: false,
    read: asGiven<string>,
  },
  tlsCert: {
    flag: '--tls-cert <FILE>',
    says: 'use TLS (1.2 at least) with this certificate',
    needs: 'tlsKey',
    key: text,
    read: contentsOf,
  },
  tlsKey: {
    flag: '--tls-key <FILE>',
    says: 'the key of the certificate',
    needs: 'tlsCert',
    key: text,
    read: contentsOf,
  },
  tlsCa: {
    flag: '--tls-ca <FILE>',
    says: 'accept only clients with a certificate of this authority',
    needs: 'tlsCert',
    key: text,
    read: authorityIn,
  },
  rabbitmq: {
    flag: '--rabbitmq <VERSION>',
    says: 'version of RabbitMQ to behave like: 3.10 or 4',
    preset: '3.10',
    // YAML reads 3.10 as the number 3.1, so only a string is accepted.
    key: simple("a string such as '3.10' or '4', in quotes", (value) => typeof value === 'string'),
    read: oneOf(profileNames),
  },
  consumerTimeout: {
    flag: '--consumer-timeout <TIME>',
    says: 'how long a client may keep a message unacknowledged before its channel is closed, such as 2h, or none',
    preset: '30m',
    key: numberOrText('milliseconds, a string such as 30m, or none'),
    read: consumerTimeoutOf,
  },
  deadLetterRetryAfter: {
    flag: '--dead-letter-retry-after <TIME>',
    says: 'when an at-least-once dead letter that did not arrive is published again, such as 5s',
    preset: '3m',
    key: numberOrText('milliseconds, or a string such as 5s'),
    read: retryAfterOf,
  },
  logLevel: {
    flag: '--log-level <LEVEL>',
    says: `lines on standard error: ${logLevels.join(', ')}`,
    preset: 'info',
    key: text,
    read: oneOf(logLevels),
  },
} satisfies Readonly<Record<string, ServeOption>>;

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

function asGiven<Value>(given: Value): Value {
  return given;
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
function memoryLimitOf(given: string | number, where: string): number {
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
function consumerTimeoutOf(given: string | number, where: string): number {
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
