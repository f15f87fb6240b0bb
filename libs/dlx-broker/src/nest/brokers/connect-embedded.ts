import { resolve } from 'node:path';
import { EmbeddedBackend } from '../../backends/index.js';
import { shownLines, shownText } from '../../platform/index.js';
import { addUsers, guestOf } from '../../platform/logins/index.js';
import { DlxConfigurationError, parseDuration, parseTimeLimit } from '../../platform/options/index.js';
import { Listeners, type Part } from '../../server/serve/listeners.js';
import {
  faultsOf,
  lostLine,
  openBroker,
  type OpenBrokerOptions,
  type OpenedBroker,
  type Reporter,
  startLine,
} from '../../server/serve/open-broker.js';
import { errorFacts, stackOf, textOf } from '../core/failure-log.js';
import { within } from '../core/within.js';
import { EventLog } from '../log/event-log.js';
import type { LoggingOptions } from '../log/logging.js';
import type { Connected, MetricsAddress, SocketAddress } from '../module/options.js';
import type { AccessOptions, EmbeddedBrokerOptions } from './embedded.js';
import type { SharedBroker } from './given.js';

/** An application of this process that has a data directory open. */
interface Occupant {
  /** True while the application is up and does not shut down. */
  isUp(): boolean;
  /** Resolves when no handler runs any more; at once if the application never started. */
  drained(): Promise<void>;
  /** Ends the broker and releases the directory. Idempotent. */
  close(): Promise<void>;
}

interface Occupied {
  readonly occupant: Occupant;
  readonly left: Promise<void>;
}

/**
 * How long hooks of other modules may take before an application that is neither up nor closed has failed, in
 * milliseconds.
 */
const timeout = 1_000;

/**
 * The applications of this process by their directories. The lock of a directory names the process, so the process has to know
 * which application has the lock. Applications share nothing else.
 */
const occupied = new Map<string, Occupied>();

/** @returns a function to call when the application has released the directory */
function occupy(directory: string, occupant: Occupant): () => void {
  const name = resolve(directory);
  let leave = (): void => undefined;
  const left = new Promise<void>((resolved) => (leave = resolved));
  const entry = { occupant, left };
  occupied.set(name, entry);
  return () => {
    if (occupied.get(name) === entry) occupied.delete(name);
    leave();
  };
}

/**
 * Waits until an application of this process that shuts down has released a directory. An application that is neither up nor
 * closed in time has failed or hangs, and is closed: Nest ends a start at the first hook that fails, and calls no further hook.
 * An application that is up keeps the directory.
 * @returns true if a failed application was closed
 */
async function vacated(directory: string): Promise<boolean> {
  const entry = occupied.get(resolve(directory));
  if (entry === undefined || entry.occupant.isUp()) return false;
  const { occupant, left } = entry;
  await occupant.drained();
  await within(timeout, left);
  if (occupant.isUp() || occupied.get(resolve(directory)) !== entry) return false;
  await occupant.close();
  return true;
}

const addressOf = (listener: SocketAddress | undefined): SocketAddress | undefined =>
  listener && { host: listener.host, port: listener.port };

const metricsAddressOf = (listener: MetricsAddress | undefined): MetricsAddress | undefined =>
  listener && { host: listener.host, port: listener.port, url: listener.url };

const presets = { amqp: 5672, http: 15_672, metrics: 15_692 };

interface Asked {
  readonly host?: string;
  readonly port?: number;
}

/** Makes errors of ports that cannot be opened. @param by the function that took the options, for errors */
const portRefusal =
  (listen: Readonly<Partial<Record<'amqp' | 'http' | 'metrics', Asked>>>, by: string) =>
  (part: Part, error: NodeJS.ErrnoException): Error => {
    const option = `option 'listen.${part}' of ${by}`;
    if (part === 'audit') return new DlxConfigurationError(`${option}: ${error.message}`, { cause: error });
    const { host = '127.0.0.1', port = presets[part] } = listen[part] ?? {};
    const why = error.code === 'EADDRINUSE' ? ' is taken; choose another one, or 0 for any' : `: ${error.message}`;
    return new DlxConfigurationError(`${option}: port ${port} of ${host}${why}`, { cause: error });
  };

const nothing = async (): Promise<void> => {};

/** Opens a broker in this process. @throws DlxConfigurationError when its data directory cannot be opened */
export async function connectEmbedded(
  options: Readonly<EmbeddedBrokerOptions>,
  logging: LoggingOptions | undefined,
): Promise<Connected> {
  const log = new EventLog('DlxBroker', logging);
  const reporter = reporterOf(log);
  const { dataDir } = options;
  if (dataDir !== undefined && (await vacated(dataDir))) {
    const directory = shownText(dataDir);
    const text = `data directory ${directory}: taken from an application of this process whose start failed or whose shutdown hangs`;
    log.write('directoryTaken', text, { directory });
  }
  const own = await openEmbedded(options, reporter);
  try {
    const line = startLine(own); // before handlers take messages
    const connected = { ...connectTo(own, options, reporter, 'embedded()'), where: () => line };
    return dataDir === undefined ? connected : occupying(dataDir, connected);
  } catch (error) {
    await own.close(); // the directory is free for the next attempt
    throw error;
  }
}

/** Connects to a broker of the caller, which stays open. */
export function connectShared({ engine, options }: SharedBroker, logging: LoggingOptions | undefined): Connected {
  const at = { broker: engine, data: undefined, close: nothing };
  return connectTo(at, options, reporterOf(new EventLog('DlxBroker', logging)), 'sharedBroker()');
}

/** Registers the directory. If this application fails to start, the next application gets the directory: see {@link vacated}. */
function occupying(directory: string, connected: Connected): Connected {
  let isUp = false;
  let lost = false;
  let drained = Promise.resolve();
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= connected.close().finally(() => leave()));
  const leave = occupy(directory, {
    isUp: () => isUp,
    drained: () => drained,
    close: () => {
      lost = true;
      return close();
    },
  });
  const check = (): void => {
    if (!lost) return;
    const text = `another application of this process has data directory ${directory}: it started while this one was not up`;
    throw new DlxConfigurationError(`option 'dataDir' of embedded(): ${text}`);
  };
  return {
    ...connected,
    check,
    draining: (end) => {
      isUp = false;
      drained = end;
    },
    open: async () => {
      check();
      isUp = true;
      await connected.open();
    },
    close,
  };
}

/**
 * @param at the broker, which is closed at the end
 * @param by the function that took the options, for errors
 */
function connectTo(
  at: OpenedBroker,
  { vhost = '/', user, listen = {} }: Readonly<AccessOptions>,
  reporter: Reporter,
  by: string,
): Connected {
  const { broker, data } = at;
  const { amqp, http, metrics, audit, memoryLimit, users } = listen;
  broker.addVirtualHost(vhost);
  addUsers(broker, users ?? []); // at once, because the application may log in as one of them
  const backend = new EmbeddedBackend(broker, { vhost, ...(user !== undefined && { user }) });
  const listeners = new Listeners(broker, data, {
    ...reporter,
    amqp,
    http,
    metrics,
    audit,
    memoryLimit,
    refused: portRefusal(listen, by),
  });
  let opened = false;
  let closed: Promise<void> | undefined;
  return {
    backend,
    open: async () => {
      if (opened || (amqp === undefined && http === undefined && metrics === undefined)) return;
      opened = true;
      if (users === undefined && broker.access.users().length === 0) addUsers(broker, [guestOf(vhost)]);
      await listeners.open();
    },
    amqp: () => addressOf(listeners.amqp),
    http: () => addressOf(listeners.http),
    urls: () => listeners.http?.urls,
    condition: () => {
      const journal = broker.virtualHosts.get(vhost)?.journal;
      const isLow = journal?.trouble !== undefined && journal.hasFailed !== true;
      return {
        faults: faultsOf(broker, journal),
        alarms: [...new Set([...listeners.raised, ...(isLow ? ['disk'] : [])])],
      };
    },
    metrics: {
      engine: broker,
      isWanted: metrics !== undefined,
      handlers: listeners.handlers,
      address: () => metricsAddressOf(listeners.metrics),
      measure: () => listeners.measure(),
    },
    manage: (handlers) => void listeners.managed.add({ vhost, ...handlers }),
    // Nest runs the hooks again when an application is closed twice.
    close: () =>
      (closed ??= (async () => {
        await listeners.close();
        await backend.close();
        await at.close().catch(known);
      })()),
  };
}

/** Ignores faults of the disk, which were logged when they occurred. */
function known(error: unknown): void {
  if ((error as Error).name !== 'StoreError') throw error;
}

/** The log of the application also gets the notices for operators. */
const reporterOf = (log: EventLog): Reporter => ({
  notice: (text) => log.write('notice', shownText(text), {}),
  lost: (count) => log.write('messagesLost', lostLine(count, "option 'dataDir' of embedded()"), { count }),
  log: (error) => {
    // The stack of an error of the disk does not help.
    if ((error as Error).name === 'StoreError')
      log.write('fault', shownLines((error as Error).message), errorFacts(error));
    else log.write('fault', textOf(error), errorFacts(error), stackOf(error), error);
  },
});

/** @throws DlxConfigurationError */
async function openEmbedded(options: Readonly<EmbeddedBrokerOptions>, reporter: Reporter): Promise<OpenedBroker> {
  const { rabbitmq, clock } = options;
  const { consumerTimeout: given, deadLetterRetryAfter: retry } = options;
  const consumerTimeout = given === undefined ? given : parseTimeLimit(given, "option 'consumerTimeout'", 0);
  const deadLetterRetryAfter = retry === undefined ? retry : parseDuration(retry, "option 'deadLetterRetryAfter'");
  try {
    return await openBroker(
      { rabbitmq, consumerTimeout, deadLetterRetryAfter, clock, data: dataOf(options) },
      reporter,
    );
  } catch (error) {
    const { StoreError } = await import('../../store/index.js');
    if (!(error instanceof StoreError)) throw error;
    throw new DlxConfigurationError(`option 'dataDir' of embedded(): ${error.message}`, { cause: error });
  }
}

function dataOf({
  dataDir,
  durability,
  messageMemory,
  diskFreeLimit,
}: Readonly<EmbeddedBrokerOptions>): OpenBrokerOptions['data'] {
  if (dataDir === undefined) return undefined;
  return {
    directory: dataDir,
    ...(durability !== undefined && { durability }),
    ...(messageMemory !== undefined && { memory: messageMemory }),
    ...(diskFreeLimit !== undefined && { diskFree: diskFreeLimit }),
  };
}
