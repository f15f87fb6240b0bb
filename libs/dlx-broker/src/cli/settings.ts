import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { TlsOptions } from '../amqp/server/index.js';
import { minConsumerTimeout, minDeadLetterRetryAfter, type ProfileName } from '../engine/broker/index.js';
import { bracketed } from '../platform/index.js';
import { bytesIn, didYouMean, parseDuration } from '../platform/options/index.js';
import type { ServeOptions } from '../server/serve/serve.js';
import type { Durability } from '../store/index.js';
import type { Config } from './config-file.js';
import { type LogLevel, logLevels, Refusal } from './refusal.js';

/** The options of the command line, by their long names in camel case. They are the keys of the configuration file; lists are texts. */
export interface Flags extends Omit<Config, 'httpHosts' | 'virtualHosts' | 'users' | 'limits'> {
  /** Names with commas between them; a list in the configuration file. */
  readonly httpHosts?: string | readonly string[];
  readonly config?: string;
}

export interface Settings {
  readonly serve: ServeOptions;
  readonly logLevel: LogLevel;
}

/** Joins command line and configuration file. The command line takes precedence. @throws Refusal */
export function settingsOf(flags: Flags, config: Config): Settings {
  const given = { ...config, ...flags };
  // The command line has no value for a console that is wanted: commander's own value for that is true.
  const console = flags.console === false ? false : config.console;
  const {
    amqp,
    http,
    httpHosts,
    edits,
    metrics,
    audit,
    definitions,
    rabbitmq,
    consumerTimeout,
    deadLetterRetryAfter,
    virtualHosts,
    users,
    limits,
    logLevel,
    memoryLimit,
  } = given;
  for (const [name, value] of Object.entries({ 'http-hosts': httpHosts, 'no-console': console, edits, audit }))
    if (http === undefined && value !== undefined) throw new Refusal(`--${name} is about the port of --http`);
  if (audit === '') throw new Refusal('--audit must name a file');
  const tls = tlsOf(given);
  const data = dataOf(given);
  return {
    logLevel: parseLogLevel(logLevel ?? 'info', '--log-level'),
    serve: {
      amqp: parseHostAndPort(amqp ?? '127.0.0.1:5672', '--amqp'),
      ...(rabbitmq !== undefined && { rabbitmq: parseProfile(rabbitmq, '--rabbitmq') }),
      ...(consumerTimeout !== undefined && {
        consumerTimeout: parseConsumerTimeout(consumerTimeout, '--consumer-timeout'),
      }),
      ...(deadLetterRetryAfter !== undefined && {
        deadLetterRetryAfter: parseRetryAfter(deadLetterRetryAfter, '--dead-letter-retry-after'),
      }),
      ...(http !== undefined && {
        http: {
          ...parseHostAndPort(http, '--http'),
          hosts: namesOf(httpHosts),
          ...(console !== undefined && { console }),
          ...(edits === true && { edits }),
          ...(tls && { tls }),
        },
      }),
      ...(metrics !== undefined && { metrics: parseHostAndPort(metrics, '--metrics') }),
      ...(audit !== undefined && { audit }),
      ...(definitions !== undefined && { definitions: read(definitions, '--definitions').toString() }),
      ...(tls && { tls }),
      ...(data && { data }),
      ...(virtualHosts && { virtualHosts }),
      ...(users && { users }),
      ...(limits && { limits }),
      ...(memoryLimit !== undefined && { memoryLimit: parseMemoryLimit(memoryLimit, '--memory-limit') }),
    },
  };
}

/** The names of a list. An empty name is a mistake: the host that it stands for would be refused. @throws Refusal */
function namesOf(given: string | readonly string[] = []): readonly string[] {
  const names = (typeof given === 'string' ? given.split(',') : given).map((name) => name.trim());
  if (!names.includes('')) return names;
  throw new Refusal(`--http-hosts must be names with commas between them, but one of '${names.join(',')}' is empty`);
}

function dataOf({ data, durability, messageMemory, diskFreeLimit }: Flags): ServeOptions['data'] {
  if (data === undefined) {
    const useless = Object.entries({ durability, 'message-memory': messageMemory, 'disk-free-limit': diskFreeLimit });
    const given = useless.find(([, value]) => value !== undefined);
    if (given === undefined) return undefined;
    throw new Refusal(`--${given[0]} is about the directory of --data, which is not given`);
  }
  if (data === '') throw new Refusal('--data must name a directory');
  return {
    directory: data,
    ...(durability !== undefined && { durability: parseDurability(durability, '--durability') }),
    ...(messageMemory !== undefined && { memory: parseBytes(messageMemory, '--message-memory') }),
    ...(diskFreeLimit !== undefined && { diskFree: parseBytes(diskFreeLimit, '--disk-free-limit') }),
  };
}

function tlsOf({ tlsCert, tlsKey, tlsCa }: Flags): TlsOptions | undefined {
  if (tlsCert === undefined && tlsKey === undefined && tlsCa === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) throw new Refusal('TLS needs both --tls-cert and --tls-key');
  const cert = read(tlsCert, '--tls-cert');
  const key = read(tlsKey, '--tls-key');
  return { cert, key, ...(tlsCa !== undefined && { ca: authority(tlsCa) }) };
}

/** TLS itself would accept any value, and then refuse every client. */
function authority(file: string): Buffer {
  const pem = read(file, '--tls-ca');
  try {
    void new X509Certificate(pem);
    return pem;
  } catch {
    throw new Refusal(`--tls-ca ${file} is no certificate in PEM`);
  }
}

function read(file: string, where: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Refusal(`${where} cannot be read: ${(error as Error).message}`);
  }
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is taken: name another one, or 0 for any that is free',
  EACCES: 'is not allowed: name one from 1024 on, or 0 for any that is free',
};

/** What a port of `serve` is refused for, with the option that names it; undefined for other errors. The port of AMQP is opened last. */
export function portRefusal(error: unknown, options: ServeOptions): Refusal | undefined {
  const { code = '', address = '', port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  const reason = reasons[code];
  if (reason === undefined || port === undefined) return undefined;
  const option = (['amqp', 'http', 'metrics'] as const).find((name) => options[name]?.port === port);
  return new Refusal(
    `the port ${bracketed(address)}:${port}${option === undefined ? '' : ` of --${option}`} ${reason}`,
  );
}

/** What the definitions of `serve` are refused for, with their file; undefined for other errors. */
export function definitionsRefusal(error: unknown, file: string | undefined): Refusal | undefined {
  if (!(error instanceof Error) || error.name !== 'Problem') return undefined;
  return new Refusal(`the definitions ${file} cannot be used: ${error.message}`);
}

const durabilities: readonly Durability[] = ['fsync', 'os', 'none'];
const profileNames: readonly ProfileName[] = ['3.10', '4'];

/** @param where the option or key it was given as, for the error @throws Refusal */
export function parseHostAndPort(text: string, where: string): { readonly host: string; readonly port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)):([0-9]{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host === undefined || port > 65_535 || (match?.[1] !== undefined && isIP(host) !== 6)) {
    throw new Refusal(`${where} must be HOST:PORT, such as 127.0.0.1:5672 or [::1]:5672, but is '${text}'`);
  }
  return { host, port };
}

/** @throws Refusal */
export const parseLogLevel = (text: string, where: string): LogLevel => oneOf(logLevels, text, where);

/** @throws Refusal */
export const parseProfile = (text: string, where: string): ProfileName => oneOf(profileNames, text, where);

/** @throws Refusal */
export const parseDurability = (text: string, where: string): Durability => oneOf(durabilities, text, where);

/** A number of bytes, or one with a unit: `500MB` are 500,000,000, `64MiB` 67,108,864. @throws Refusal */
export function parseBytes(given: string | number, where: string): number {
  const bytes = bytesIn(String(given));
  if (!Number.isNaN(bytes)) return bytes;
  throw new Refusal(`${where} must be a number of bytes such as 64MiB or 500MB, but is '${given}'`);
}

/** A share of memory up to 1, or bytes above it. @throws Refusal */
export function parseMemoryLimit(given: string | number, where: string): number {
  const text = String(given);
  const limit = /^(0?\.[0-9]+|1(\.0*)?)$/.test(text) ? Number(text) : bytesIn(text);
  if (limit > 0) return limit;
  throw new Refusal(`${where} must be a share of memory such as 0.4, or bytes such as 600MB, but is '${given}'`);
}

/** Milliseconds, or a string such as `5s`. @returns milliseconds @throws Refusal */
export function parseRetryAfter(given: string | number, where: string): number {
  const text = String(given);
  const milliseconds = /^[0-9]+$/.test(text) ? Number(text) : durationIn(text, where, 'a time such as 5s');
  if (milliseconds >= minDeadLetterRetryAfter) return milliseconds;
  throw new Refusal(`${where} must be ${minDeadLetterRetryAfter} ms or more, but is '${given}'`);
}

/** Milliseconds, a string such as `30m`, or `none`. @returns milliseconds; Infinity for `none` @throws Refusal */
export function parseConsumerTimeout(given: string | number, where: string): number {
  if (given === 'none') return Infinity;
  const text = String(given);
  const milliseconds = /^[0-9]+$/.test(text) ? Number(text) : durationIn(text, where, 'a time such as 30m, or none');
  if (milliseconds >= minConsumerTimeout) return milliseconds;
  const unit =
    text === String(milliseconds) ? `; a number without a unit is in milliseconds: write ${text}s or ${text}m` : '';
  throw new Refusal(`${where} must be ${minConsumerTimeout} ms or more, or none, but is '${given}'${unit}`);
}

function durationIn(text: string, where: string, accepted: string): number {
  try {
    return parseDuration(text, where);
  } catch {
    throw new Refusal(`${where} must be milliseconds, ${accepted}, but is '${text}'`);
  }
}

function oneOf<T extends string>(known: readonly T[], text: string, where: string): T {
  const found = known.find((one) => one === text);
  if (found !== undefined) return found;
  throw new Refusal(`${where} must be one of ${known.join(', ')}, but is '${text}'${didYouMean(text, known)}`);
}
