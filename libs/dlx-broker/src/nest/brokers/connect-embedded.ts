import { EmbeddedBackend } from '../../backends/index.js';
import { shownLines, shownText } from '../../platform/index.js';
import {
  inMemory,
  lostLine,
  type Reporter,
  openBroker,
  type OpenedBroker,
  type OpenBrokerOptions,
} from '../../server/serve/open-broker.js';
import { DlxConfigurationError, parseDuration, parseTimeLimit } from '../../platform/options/index.js';
import { guestOf, addUsers } from '../../platform/logins/index.js';
import { faultsOf } from '../../server/serve/storage-faults.js';
import { Listeners } from '../../server/serve/listeners.js';
import type { Connected } from '../module/options.js';
import { EventLog } from '../log/event-log.js';
import { errorFacts, stackOf, textOf } from '../core/failure-log.js';
import type { LoggingOptions } from '../log/logging.js';
import { occupy, vacated } from './data-directories.js';
import { addressOf, metricsAddressOf, portRefusal } from './ports.js';
import type { AccessOptions, EmbeddedBrokerOptions } from './embedded.js';
import type { SharedBroker } from './shared.js';

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
    const connected = connectTo(own, options, reporter, 'embedded()');
    return dataDir === undefined ? { ...connected, where: () => inMemory } : occupying(dataDir, connected);
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
    open: async (parkingLots) => {
      check();
      isUp = true;
      await connected.open(parkingLots);
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
