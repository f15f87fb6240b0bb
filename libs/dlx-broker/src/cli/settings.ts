import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { TlsOptions } from '../amqp/server/index.js';
import type { ServeOptions } from '../server/serve/serve.js';
import type { Config } from './config-file.js';
import { Refusal } from './refusal.js';
import {
  type LogLevel,
  parseHostAndPort,
  parseBytes,
  parseConsumerTimeout,
  parseRetryAfter,
  parseDurability,
  parseLogLevel,
  parseMemoryLimit,
  parseProfile,
} from './values.js';

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
