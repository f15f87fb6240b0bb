import { type Limits, listen, type Listener, type TlsOptions } from './amqp/index.js';
import { policyPatterns, randomNames, SystemClock, turnPace } from './backend/index.js';
import { Broker, type Clock, type ProfileName } from './broker/index.js';
import type { HttpListener, HttpOptions } from './management/index.js';
import type { Data, DataOptions } from './store/index.js';
import { guestOf, letIn, LoginThrottle, type ServedUser } from './users/index.js';

/** What it takes to serve; everything has a default. */
export interface ServeOptions {
  readonly amqp?: { readonly host: string; readonly port: number };
  /** Makes AMQP clients speak TLS; the management API has the same in `http`. */
  readonly tls?: TlsOptions;
  /** Opens the management API, on loopback at 15672 unless told; without it there is none. */
  readonly http?: HttpOptions;
  /** A file to which everything that operators did over HTTP is appended. */
  readonly audit?: string;
  /** What the broker begins with: JSON as `export_definitions` writes it. */
  readonly definitions?: string;
  /** Keeps durable queues in a directory; without it nothing outlives the process. */
  readonly data?: DataOptions & { readonly directory: string };
  /** Which RabbitMQ it behaves like. */
  readonly rabbitmq?: ProfileName;
  /** Beside `/`. */
  readonly virtualHosts?: readonly string[];
  /**
   * Unless told, `guest` with the password `guest`, who may do everything, but only from this machine; where users were
   * kept, those and no others.
   */
  readonly users?: readonly ServedUser[];
  readonly limits?: Partial<Limits>;
  /** Hears what an operator may want to know: of refused logins, and of what was found in the data directory. */
  readonly notice?: (text: string) => void;
  /** Hears of faults of our own. */
  readonly log?: (error: unknown) => void;
}

/** A broker on its own, and how it is reached. */
export interface Served {
  readonly broker: Broker;
  readonly amqp: Listener;
  readonly http: HttpListener | undefined;
  /** Tells all clients to go (320), keeps what is to be kept, and ends. */
  close(): Promise<void>;
}

/**
 * Puts a broker together and opens its ports.
 * @throws what the system says when a port cannot be had, what is wrong with the definitions, or a StoreError
 */
export async function serve(options: ServeOptions = {}): Promise<Served> {
  const clock = new SystemClock();
  const data = options.data && (await openData(options.data, clock, options));
  const broker = new Broker({
    clock,
    names: randomNames,
    patterns: policyPatterns,
    pace: turnPace,
    ...(options.rabbitmq && { rabbitmq: options.rabbitmq }),
    ...(data && { journal: data.journal }),
  });
  let listener: Listener | undefined;
  let http: HttpListener | undefined;
  const close = async (): Promise<void> => {
    await Promise.all([http?.close(), listener?.close()]);
    broker.close();
    await data?.close();
  };
  try {
    if (data !== undefined) await restore(data, broker, options);
    for (const name of options.virtualHosts ?? []) broker.addVirtualHost(name);
    if (options.users !== undefined || broker.access.users().length === 0) {
      letIn(broker, options.users ?? [guestOf('/')]);
    }
    // Guesses at one port count at all.
    const throttle = new LoginThrottle(() => performance.now());
    const open = management(broker, options, throttle, () => (listener === undefined ? [] : [listener]));
    if (options.definitions !== undefined) await open.load(options.definitions);
    listener = await listenForAmqp(broker, options, throttle, data);
    if (options.http !== undefined) http = await open.listen(options.http);
    return { broker, amqp: listener, http, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Space may come back, and publishers wait for it; a disk that failed does not, and they are told. */
const isLow = ({ journal }: Data): boolean => journal.isFull && !journal.hasFailed;

/** The store is read from disk only when somebody asks for it. */
async function openData(
  { directory, ...options }: NonNullable<ServeOptions['data']>,
  clock: Clock,
  to: ServeOptions,
): Promise<Data> {
  const { openData } = await import('./store/index.js');
  return openData(directory, { ...options, now: () => clock.now(), failed: (error) => to.log?.(error) });
}

/** Nothing that is damaged is passed over in silence. */
async function restore(data: Data, broker: Broker, { notice, log }: ServeOptions): Promise<void> {
  const { damageLines, StoreError } = await import('./store/index.js');
  data.journal.restore(broker);
  const { entries } = data.journal.stats;
  notice?.(`data directory ${data.directory}: ${data.isNew ? 'new' : `${entries} messages`}`);
  const damage = damageLines(data.journal.damage);
  if (damage.length > 0) log?.(new StoreError('damaged', damage.join('\n')));
}

const listenForAmqp = (
  broker: Broker,
  { amqp, tls, limits, log, notice }: ServeOptions,
  throttle: LoginThrottle,
  data: Data | undefined,
): Promise<Listener> =>
  listen(broker, {
    ...amqp,
    throttle,
    ...(data && { alarms: [{ resource: 'disk', isRaised: () => isLow(data) }] }),
    ...(tls && { tls }),
    ...(limits && { limits }),
    ...(log && { log }),
    ...(notice && { notice }),
  });

/** Bytes that the store leaves free unless told. */
const usualDiskFree = 50 * 1024 * 1024;

/** The management API, which is read from disk only when somebody asks for it. */
function management(
  broker: Broker,
  { tls, log, audit, data }: ServeOptions,
  throttle: LoginThrottle,
  listeners: () => readonly Listener[],
) {
  const kind = tls === undefined ? { protocol: 'amqp' } : { protocol: 'amqp/ssl', certificate: tls.cert };
  const host = {
    broker,
    now: Date.now,
    patterns: policyPatterns,
    throttle,
    ports: () => listeners().map(({ host: address, port }) => ({ ...kind, host: address, port })),
    alarms: () => listeners().flatMap(({ raised }) => raised),
    ...(data && { data: { directory: data.directory, freeLimit: data.diskFree ?? usualDiskFree } }),
    ...(log && { log }),
  };
  const room = () => import('./management/index.js');
  return {
    listen: async (options: HttpOptions): Promise<HttpListener> => {
      const { AuditFile, listenHttp } = await room();
      if (audit === undefined) return listenHttp(host, options);
      const file = await AuditFile.open(audit, (error) => log?.(error));
      return listenHttp({ ...host, audit: file }, options).catch(async (error: unknown) => {
        await file.close();
        throw error;
      });
    },
    load: async (text: string) => (await room()).loadDefinitions(host, text),
  };
}
