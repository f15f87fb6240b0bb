import type { ListenOptions } from '../amqp/index.js';
import { type Backend, EmbeddedBackend } from '../backend/index.js';
import { profiles } from '../broker/index.js';
import { shownLines, shownText } from '../message/index.js';
import type { HttpOptions } from '../management/index.js';
import { type Ears, openBroker, type OwnBroker, type OwnBrokerOptions } from '../own-broker.js';
import type { Durability } from '../store/index.js';
import { DlxConfigurationError, oneOf, refused, whole } from '../topology/index.js';
import { guestOf, letIn, type ServedUser } from '../users/index.js';
import { type Part, WaysIn } from '../ways-in.js';
import type { DlxBrokerOptions } from './dlx-broker.module.js';
import type { Connected, SocketAddress } from './options.js';
import { SafeLogger } from './safe-logger.js';

/** Ways for other processes into the broker of this one. */
export interface ListenAt {
  /** A port for AMQP 0-9-1 clients: on loopback, 5672, unless told; 0 is any that is free. */
  readonly amqp?: Omit<ListenOptions, 'authenticate' | 'throttle'>;
  /** A port for the management API: on loopback, 15672, unless told; 0 is any that is free. */
  readonly http?: HttpOptions;
  /** A file to which everything that operators do over HTTP is appended. */
  readonly audit?: string;
  /**
   * How much memory this process may use before publishers at these ports wait: up to 1 a share of what it may have (the
   * container's limit, else the machine's memory), above it bytes. Default 0.4.
   */
  readonly memoryLimit?: number;
  /** Who may log in. Unless told, `guest` with the password `guest`, who may do everything, but only from this machine. */
  readonly users?: readonly ServedUser[];
}

/** Where the application's own broker keeps its durable queues. */
export interface KeepIn {
  /** A directory for this process alone; it is made if it is not there. Default none: nothing outlives the process. */
  readonly dataDir?: string;
  /** What a confirmed message survives: `fsync` a power cut, `os` and `none` the death of the process. Default `fsync`. */
  readonly durability?: Durability;
  /** Bytes of bodies that stay in memory; others are read back when they are delivered. Default 64 MB. */
  readonly messageMemory?: number;
  /** Publishes are refused while fewer bytes are free on the disk. Default 50 MB. */
  readonly diskFreeLimit?: number;
}

const nothing = async (): Promise<void> => {};

/** A backend that somebody else opened and will close. */
export const lent = (backend: Backend): Connected => ({
  backend,
  open: nothing,
  amqp: () => undefined,
  http: () => undefined,
  close: nothing,
});

/** Gets the module its broker: one that was lent, or one of its own. @throws DlxConfigurationError */
export async function connect(options: DlxBrokerOptions): Promise<Connected> {
  const { backend, broker, listen, rabbitmq } = options;
  if (rabbitmq !== undefined) oneOf(...Object.keys(profiles)).read(rabbitmq, origin('rabbitmq'));
  checkData(options);
  if (backend !== undefined) {
    if (listen === undefined) return lent(backend);
    throw new DlxConfigurationError(
      "DlxBrokerModule: option 'listen' opens ports of a broker in this process, but option 'backend' names one elsewhere",
    );
  }
  if (listen?.audit !== undefined && listen.http === undefined) {
    throw new DlxConfigurationError("DlxBrokerModule: option 'listen.audit' is about the port of option 'listen.http'");
  }
  const ears = earsOf(new SafeLogger('DlxBroker'));
  if (broker !== undefined) return connectTo({ broker, data: undefined, close: nothing }, options, ears);
  const own = await openOwn(options, ears);
  try {
    return connectTo(own, options, ears);
  } catch (error) {
    await own.close(); // the directory is free for the next attempt
    throw error;
  }
}

/** @param at what it closes in the end */
function connectTo(at: OwnBroker, { vhost = '/', user, listen = {} }: DlxBrokerOptions, ears: Ears): Connected {
  const { broker, data } = at;
  const { amqp, http, audit, memoryLimit, users } = listen;
  broker.addVirtualHost(vhost);
  letIn(broker, users ?? []); // at once: the application itself may be one of them
  const backend = new EmbeddedBackend(broker, { vhost, ...(user !== undefined && { user }) });
  const ways = new WaysIn(broker, data, { ...ears, amqp, http, audit, memoryLimit, refused: refusal(listen) });
  let opened = false;
  let closed: Promise<void> | undefined;
  return {
    backend,
    open: async () => {
      if (opened || (amqp === undefined && http === undefined)) return;
      opened = true;
      if (users === undefined && broker.access.users().length === 0) letIn(broker, [guestOf(vhost)]);
      await ways.open();
    },
    amqp: () => addressOf(ways.amqp),
    http: () => addressOf(ways.http),
    // Nest runs the hooks again when an application is closed twice.
    close: () =>
      (closed ??= (async () => {
        await ways.close();
        await backend.close();
        await at.close().catch(known);
      })()),
  };
}

/** What is wrong with the disk was logged when it came up, and there is nothing to be done about it here. */
function known(error: unknown): void {
  if ((error as Error).name !== 'StoreError') throw error;
}

const addressOf = (listener: SocketAddress | undefined): SocketAddress | undefined =>
  listener && { host: listener.host, port: listener.port };

/** The log of the application, too, is told what an operator may want to know. */
const earsOf = (logger: SafeLogger): Ears => ({
  notice: (text) => logger.log(shownText(text)),
  // What is wrong with a disk needs no stack.
  log: (error) => logger.error((error as Error).name === 'StoreError' ? shownLines((error as Error).message) : error),
});

const presets = { amqp: 5672, http: 15_672 };

const refusal =
  (listen: ListenAt) =>
  (part: Part, error: NodeJS.ErrnoException): Error => {
    const option = `option 'listen.${part}' of DlxBrokerModule`;
    if (part === 'audit') return new DlxConfigurationError(`${option}: ${error.message}`, { cause: error });
    const { host = '127.0.0.1', port = presets[part] } = listen[part] ?? {};
    const why = error.code === 'EADDRINUSE' ? 'is taken; choose another one, or 0 for any' : error.message;
    return new DlxConfigurationError(`${option}: port ${port} of ${host} ${why}`);
  };

/** @throws DlxConfigurationError */
async function openOwn(options: DlxBrokerOptions, ears: Ears): Promise<OwnBroker> {
  try {
    return await openBroker({ rabbitmq: options.rabbitmq, data: dataOf(options) }, ears);
  } catch (error) {
    const { StoreError } = await import('../store/index.js');
    if (!(error instanceof StoreError)) throw error;
    throw new DlxConfigurationError(`option 'dataDir' of DlxBrokerModule: ${error.message}`, { cause: error });
  }
}

function dataOf({ dataDir, durability, messageMemory, diskFreeLimit }: DlxBrokerOptions): OwnBrokerOptions['data'] {
  if (dataDir === undefined) return undefined;
  return {
    directory: dataDir,
    ...(durability !== undefined && { durability }),
    ...(messageMemory !== undefined && { memory: messageMemory }),
    ...(diskFreeLimit !== undefined && { diskFree: diskFreeLimit }),
  };
}

const dataOptions = ['dataDir', 'durability', 'messageMemory', 'diskFreeLimit'] as const;

/** Whoever names a directory counts on it. @throws DlxConfigurationError */
function checkData(options: DlxBrokerOptions): void {
  const useless = dataOptions.find((name) => options[name] !== undefined);
  if (useless === undefined) return;
  const lent = (['backend', 'broker'] as const).find((name) => options[name] !== undefined);
  if (lent !== undefined) {
    throw new DlxConfigurationError(
      `DlxBrokerModule: option '${useless}' is about the application's own broker, but option '${lent}' names another one`,
    );
  }
  if (options.dataDir === undefined) {
    throw new DlxConfigurationError(`DlxBrokerModule: option '${useless}' needs option 'dataDir'`);
  }
  const { durability = 'fsync', messageMemory = 0, diskFreeLimit = 0 } = options;
  if (!durabilities.includes(durability)) {
    throw refused(durability, origin('durability'), `is none of ${durabilities.join(', ')}`);
  }
  whole(0, Number.MAX_SAFE_INTEGER).read(messageMemory, origin('messageMemory'));
  whole(0, Number.MAX_SAFE_INTEGER).read(diskFreeLimit, origin('diskFreeLimit'));
}

const durabilities: readonly Durability[] = ['fsync', 'os', 'none'];
const origin = (option: string): string => `option '${option}' of DlxBrokerModule`;
