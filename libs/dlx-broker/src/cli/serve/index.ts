import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Limits } from '../../amqp/server/index.js';
import { bracketed, shownLines, shownText } from '../../platform/index.js';
import type { ServedUser } from '../../platform/logins/index.js';
import type { ServeOptions } from '../../server/serve/serve.js';
import { CommandError, isOfStore, logOf } from '../command-error.js';
import { type LogLevel, logLevels, type ServeOption, serveOptions, valuesOf } from './options.js';
import { list, object, record, type Shape, simple, text } from './shapes.js';

/** Adds the options of `serve` to its command. */
export function addServe(command: Command): void {
  for (const { flag, says } of Object.values<ServeOption>(serveOptions)) command.option(flag, says);
  command.action(serveUntilSignal);
}

/** The options of the command line, or the configuration file, by their names in camel case. */
export type Given = { readonly [Name in keyof typeof serveOptions]?: unknown };

/** The configuration file has besides what the command line cannot say. */
interface Config extends Given {
  readonly virtualHosts?: readonly string[];
  readonly users?: readonly ServedUser[];
  readonly limits?: Partial<Limits>;
}

const naturalNumber = simple(
  'a whole number, not negative',
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
);

const shapeOf = (keys: Readonly<Record<string, Shape>>, required: readonly string[] = []): Shape =>
  object(new Map(Object.entries(keys)), required);
const rights = { configure: text, write: text, read: text };
const permissions = record(shapeOf(rights, Object.keys(rights)));
const user = shapeOf({ name: text, password: text, tags: list(text), permissions }, ['name', 'password']);

/** Reads a file in JSON or YAML. @throws CommandError saying what is wrong where */
export async function readConfig(file: string): Promise<Config> {
  // Most starts have no such file: they need not wait for the library, nor for the limits.
  const [{ parse }, { defaultLimits }] = await Promise.all([import('yaml'), import('../../amqp/server/index.js')]);
  const keys = Object.entries<ServeOption>(serveOptions).flatMap(([name, { key }]) =>
    key ? [[name, key] as const] : [],
  );
  const limits = object(new Map(Object.keys(defaultLimits).map((name) => [name, naturalNumber])));
  const shape = shapeOf({ ...Object.fromEntries(keys), virtualHosts: list(text), users: list(user), limits });
  let config: unknown;
  try {
    config = parse(readFileSync(file, 'utf8')) ?? {};
  } catch (error) {
    const { syscall, message } = error as NodeJS.ErrnoException;
    const why =
      syscall === undefined ? `is neither JSON nor YAML: ${message.split('\n')[0]}` : `cannot be read: ${message}`;
    throw new CommandError(`the configuration ${file} ${why}`);
  }
  shape(config, file);
  return config as Config;
}

/** Joins command line and configuration file. The command line takes precedence. @throws CommandError */
function settingsOf(flags: Given, config: Config): { readonly serve: ServeOptions; readonly logLevel: LogLevel } {
  const { virtualHosts, users, limits, ...inFile } = config;
  // Commander sets a console that is wanted to true, also where the command line does not say so.
  const given = { ...inFile, ...flags, console: flags.console === false ? false : config.console };
  const values = valuesOf(given);
  const { logLevel = 'info', amqp = { host: '127.0.0.1', port: 5672 }, http, httpHosts, console, edits } = values;
  const { tlsCert: cert, tlsKey: key, tlsCa: ca, data: directory, durability } = values;
  const { messageMemory, diskFreeLimit, metrics, audit, definitions, memoryLimit, rabbitmq } = values;
  const { consumerTimeout, deadLetterRetryAfter } = values;
  const tls = cert && key && { cert, key, ...present({ ca }) };
  const data = directory && { directory, ...present({ durability, memory: messageMemory, diskFree: diskFreeLimit }) };
  return {
    logLevel,
    serve: {
      amqp,
      ...present({ metrics, audit, definitions, memoryLimit, rabbitmq, consumerTimeout, deadLetterRetryAfter }),
      ...present({ http: http && { ...http, ...present({ hosts: httpHosts, console, edits, tls }) }, tls, data }),
      ...present({ virtualHosts, users, limits }),
    },
  };
}

/** The fields that have a value. */
const present = <T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined | ''> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;

async function serveUntilSignal(flags: Given): Promise<void> {
  const start = new AbortController();
  let stop = (signal: string): void => start.abort(signal);
  // Before the data directory is opened: the first process of a container gets only the signals that it handles.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop(signal));
  const [{ serve }, { lostLine }] = await Promise.all([
    import('../../server/serve/serve.js'),
    import('../../server/serve/open-broker.js'),
  ]);
  const config = flags.config === undefined ? {} : await readConfig(String(flags.config));
  const { serve: options, logLevel } = settingsOf(flags, config);
  const log = (level: LogLevel, line: string): void => {
    if (logLevels.indexOf(level) <= logLevels.indexOf(logLevel)) console.error(`${level} ${line}`);
  };
  const served = await serve({
    ...options,
    log: (error) => log('error', shownLines(logOf(error))),
    notice: (line) => log('info', shownText(line)),
    lost: (messages) => log('warn', lostLine(messages, '--data DIR')),
    signal: start.signal,
  }).catch((error: unknown) => {
    if (!start.signal.aborted || error !== start.signal.reason)
      throw portRefused(error, options) ?? definitionsRefused(error, flags.definitions ?? config.definitions) ?? error;
    log('info', `${error}: the start is given up`);
    process.exit(0);
  });
  stop = (signal) => {
    log('info', `${signal}: closing ${served.amqp.connections.size} connections`);
    // The log says why not everything could be kept.
    served.close().then(
      () => process.exit(0),
      (error: unknown) => {
        if (!isOfStore(error)) log('error', shownLines(logOf(error)));
        process.exit(1);
      },
    );
  };
  const shown = ({ host, port }: { readonly host: string; readonly port: number }): string =>
    `${bracketed(host)}:${port}`;
  // The only line on standard output: the parent process may wait for it.
  const http = served.http === undefined ? '' : ` http=${shown(served.http)}`;
  if (served.http?.urls.console !== undefined) log('info', `the console is at ${served.http.urls.console}`);
  if (served.metrics !== undefined) log('info', `metrics are at ${served.metrics.url}`);
  console.log(`dlx-broker ready amqp=${shown(served.amqp)}${http}`);
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is taken: name another one, or 0 for any that is free',
  EACCES: 'is not allowed: name one from 1024 on, or 0 for any that is free',
};

/** The option of a port that cannot be opened, and why; undefined for other errors. The port of AMQP is opened last. */
function portRefused(error: unknown, options: ServeOptions): CommandError | undefined {
  const { code = '', address = '', port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  if (reasons[code] === undefined || port === undefined) return undefined;
  const option = (['amqp', 'http', 'metrics'] as const).find((name) => options[name]?.port === port);
  const of = option === undefined ? '' : ` of --${option}`;
  return new CommandError(`the port ${bracketed(address)}:${port}${of} ${reasons[code]}`);
}

/** The file of definitions that cannot be used, and why; undefined for other errors. */
const definitionsRefused = (error: unknown, file: unknown): CommandError | undefined =>
  error instanceof Error && error.name === 'Problem'
    ? new CommandError(`the definitions ${String(file)} cannot be used: ${error.message}`)
    : undefined;
