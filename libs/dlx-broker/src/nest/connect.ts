import { Logger } from '@nestjs/common';
import { type Alarm, listen, type Listener, type ListenOptions } from '../amqp/index.js';
import { type Backend, EmbeddedBackend, policyPatterns, randomNames, SystemClock, turnPace } from '../backend/index.js';
import { Broker, type Clock, type ProfileName } from '../broker/index.js';
import { damageLines, type Data, type Durability, openData, StoreError } from '../store/index.js';
import { DlxConfigurationError } from '../topology/index.js';
import type { HttpListener, HttpOptions, ManagementHost } from '../management/index.js';
import { guestOf, letIn, LoginThrottle, type ServedUser } from '../users/index.js';
import { refused, whole } from './decorators/accepts.js';
import type { DlxBrokerOptions } from './dlx-broker.module.js';
import type { Connected, SocketAddress } from './options.js';

/** Ways for other processes into the broker of this one. */
export interface ListenAt {
  /** A port for AMQP 0-9-1 clients: on loopback, 5672, unless told; 0 is any that is free. */
  readonly amqp?: Omit<ListenOptions, 'authenticate' | 'throttle'>;
  /** A port for the management API: on loopback, 15672, unless told; 0 is any that is free. */
  readonly http?: HttpOptions;
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
  const { backend, broker, vhost = '/', user } = options;
  checkData(options);
  if (backend !== undefined) {
    if (options.listen === undefined) return lent(backend);
    throw new DlxConfigurationError(
      "DlxBrokerModule: option 'listen' opens ports of a broker in this process, but option 'backend' names one elsewhere",
    );
  }
  const clock = new SystemClock();
  const data = await openDataOf(options, clock);
  const used = broker ?? newBroker(clock, data, options.rabbitmq);
  used.addVirtualHost(vhost);
  letIn(used, options.listen?.users ?? []); // at once: the application itself may be one of them
  const embedded = new EmbeddedBackend(used, { vhost, ...(user !== undefined && { user }) });
  const ports = new Ports(used, options.listen ?? {}, vhost, data);
  return {
    backend: embedded,
    open: () => ports.open(),
    amqp: () => addressOf(ports.amqp),
    http: () => addressOf(ports.http),
    close: async () => {
      await ports.close();
      await embedded.close();
      if (broker === undefined) used.close(); // its clock would keep the process alive
      await data?.close();
    },
  };
}

const addressOf = (listener: SocketAddress | undefined): SocketAddress | undefined =>
  listener && { host: listener.host, port: listener.port };

/** Space may come back, and publishers wait for it; a disk that failed does not, and they are told. */
const isLow = ({ journal }: Data): boolean => journal.isFull && !journal.hasFailed;

const diskAlarms = (data: Data | undefined): readonly Alarm[] =>
  data === undefined ? [] : [{ resource: 'disk', isRaised: () => isLow(data) }];

/** The ports of the option `listen`. */
class Ports {
  amqp: Listener | undefined;
  http: HttpListener | undefined;
  #opened = false;

  constructor(
    private readonly broker: Broker,
    private readonly at: ListenAt,
    private readonly vhost: string,
    private readonly data: Data | undefined,
  ) {}

  /** @throws DlxConfigurationError naming the option */
  async open(): Promise<void> {
    const { amqp, http, users } = this.at;
    if (this.#opened || (amqp === undefined && http === undefined)) return;
    this.#opened = true;
    if (users === undefined && this.broker.access.users().length === 0) letIn(this.broker, [guestOf(this.vhost)]);
    const throttle = new LoginThrottle(() => performance.now());
    if (amqp !== undefined) {
      const alarms = [...(amqp.alarms ?? []), ...diskAlarms(this.data)];
      this.amqp = await listen(this.broker, { ...amqp, throttle, alarms }).catch(refusal('amqp', amqp, 5672));
    }
    if (http === undefined) return;
    // Who does not ask for it need not wait until it is read from disk.
    const { listenHttp } = await import('../management/index.js');
    this.http = await listenHttp(this.#host(throttle), http).catch(refusal('http', http, 15_672));
  }

  async close(): Promise<void> {
    await Promise.all([this.http?.close(), this.amqp?.close()]);
  }

  #host(throttle: LoginThrottle): ManagementHost {
    const tls = this.at.amqp?.tls;
    const kind = tls === undefined ? { protocol: 'amqp' } : { protocol: 'amqp/ssl', certificate: tls.cert };
    return {
      broker: this.broker,
      now: Date.now,
      patterns: policyPatterns,
      throttle,
      ports: () => (this.amqp === undefined ? [] : [{ ...kind, host: this.amqp.host, port: this.amqp.port }]),
      alarms: () => this.amqp?.raised ?? [],
      log: (error) => new Logger('DlxBroker').error(error),
    };
  }
}

const refusal =
  (option: string, { host = '127.0.0.1', port }: Partial<SocketAddress>, preset: number) =>
  (error: NodeJS.ErrnoException): never => {
    const why = error.code === 'EADDRINUSE' ? 'is taken; choose another one, or 0 for any' : error.message;
    throw new DlxConfigurationError(
      `option 'listen.${option}' of DlxBrokerModule: port ${port ?? preset} of ${host} ${why}`,
    );
  };

function newBroker(clock: Clock, data: Data | undefined, rabbitmq: ProfileName = '3.10'): Broker {
  const lent = { clock, names: randomNames, patterns: policyPatterns, pace: turnPace, rabbitmq };
  if (data === undefined) return new Broker(lent);
  const broker = new Broker({ ...lent, journal: data.journal });
  data.journal.restore(broker);
  return broker;
}

/** Nothing that is damaged is passed over in silence. */
async function openDataOf(options: DlxBrokerOptions, clock: Clock): Promise<Data | undefined> {
  const { dataDir, durability, messageMemory, diskFreeLimit } = options;
  if (dataDir === undefined) return undefined;
  const logger = new Logger('DlxBroker');
  try {
    const data = await openData(dataDir, {
      now: () => clock.now(),
      failed: (error) => logger.error(error.message),
      ...(durability !== undefined && { durability }),
      ...(messageMemory !== undefined && { memory: messageMemory }),
      ...(diskFreeLimit !== undefined && { diskFree: diskFreeLimit }),
    });
    for (const line of damageLines(data.journal.damage)) logger.error(`${data.directory}: ${line}`);
    return data;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new DlxConfigurationError(`option 'dataDir' of DlxBrokerModule: ${error.message}`, { cause: error });
  }
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
