import type { Listener, ListenOptions } from '../../amqp/server/index.js';
import type { Broker } from '../../engine/broker/index.js';
import {
  type Alarm,
  memoryAlarm,
  type MemoryLimit,
  type MemoryUse,
  processMemory,
} from '../../platform/alarms/index.js';
import { policyPatterns } from '../../platform/index.js';
import { LoginThrottle } from '../../platform/logins/index.js';
import type { Data } from '../../store/index.js';
import type { HttpListener, HttpOptions, ManagedHandlers, ManagementHost } from '../index.js';
import type { Meter, MeteredHandlers, MeteredJournal, MetricsListener, MetricsOptions } from '../metrics/index.js';
import { faultsOf, type Reporter } from './open-broker.js';

/** The ports of a broker for other processes. A port that is undefined is not opened. */
interface ListenersOptions extends Reporter {
  /** A port for AMQP 0-9-1 clients: by default 5672 on loopback; 0 is any free port. */
  readonly amqp?: Omit<ListenOptions, 'authenticate' | 'http' | 'throttle'> | undefined;
  /** A port for the management API: by default 15672 on loopback; 0 is any free port. */
  readonly http?: HttpOptions | undefined;
  /**
   * A port for Prometheus, without a login: by default 15692 on loopback; 0 is any free port. It starts the measurements that
   * cost time, such as the delay of the event loop.
   */
  readonly metrics?: MetricsOptions | undefined;
  /** The file of the audit log, which has every change that operators make over HTTP. */
  readonly audit?: string | undefined;
  /**
   * The memory in use above which publishers wait. Up to 1: a share of the memory of the container, or of the machine without a
   * container limit. Above 1: bytes. Default 0.4.
   */
  readonly memoryLimit?: MemoryLimit | undefined;
  /** Makes the error to throw when a part cannot be opened. By default its own error is thrown. */
  readonly refused?: (part: Part, error: Error) => Error;
}

export type Part = 'amqp' | 'http' | 'audit' | 'metrics';

/** The ports of a broker. Publishers wait when the disk is short of space, and the management API shows the alarm. */
export class Listeners {
  amqp: Listener | undefined;
  http: HttpListener | undefined;
  metrics: MetricsListener | undefined;
  /** The handlers of an application, for the pages of metrics. */
  readonly handlers = new Set<MeteredHandlers>();
  /** The handlers of an application, for operators. */
  readonly managed = new Set<ManagedHandlers>();
  #meter: Promise<Meter> | undefined;
  readonly #host: ManagementHost;
  /** Shared by all ports: failed logins at one port count at the others. */
  readonly #throttle = new LoginThrottle(() => performance.now());
  readonly #alarms: readonly Alarm[];
  /** One measure for publishers, management and health checks. */
  readonly #memory: () => MemoryUse;

  constructor(
    private readonly broker: Broker,
    private readonly data: Data | undefined,
    private readonly options: ListenersOptions,
  ) {
    const { amqp, log, memoryLimit, notice } = options;
    this.#memory = amqp?.memory ?? processMemory(memoryLimit);
    this.#alarms = data === undefined ? [] : [{ resource: 'disk', isRaised: () => isLow(data) }];
    const kind = amqp?.tls === undefined ? { protocol: 'amqp' } : { protocol: 'amqp/ssl', certificate: amqp.tls.cert };
    this.#host = {
      broker,
      now: Date.now,
      patterns: policyPatterns,
      throttle: this.#throttle,
      ports: () => (this.amqp?.isOpen === true ? [{ ...kind, host: this.amqp.host, port: this.amqp.port }] : []),
      alarms: () =>
        this.amqp?.raised ??
        [memoryAlarm(this.#memory), ...this.#alarms].flatMap(({ resource, isRaised }) =>
          isRaised() ? [resource] : [],
        ),
      memory: this.#memory,
      handlers: this.managed,
      ...(data && { data: { directory: data.directory, freeLimit: data.diskFreeLimit } }),
      faults: () => faultsOf(broker, data?.journal),
      ...(log && { log }),
      ...(notice && { notice }),
    };
  }

  /** The resources for which AMQP clients wait at present. */
  get raised(): readonly string[] {
    return this.amqp?.raised ?? [];
  }

  /**
   * Imports definitions: JSON as `export_definitions` writes it.
   * @param withoutUsers called before the import, if the definitions name no user
   * @throws Problem that says what is wrong
   */
  async load(definitions: string, withoutUsers: () => void): Promise<void> {
    const { loadDefinitions } = await management();
    const unknown = loadDefinitions(this.#host, definitions, withoutUsers);
    for (const key of unknown) this.options.notice?.(`definitions: '${key}' is not known and was left out`);
  }

  /**
   * Opens the ports of the options. The port for AMQP is the last, because its clients get the port of the HTTP API (rule T9).
   * @throws the error of a port, an AuditFileError, or the error that `refused` makes of it; then no port is open
   */
  async open(): Promise<void> {
    const { amqp, http, metrics } = this.options;
    try {
      if (metrics !== undefined) this.metrics = await this.#listenForMetrics(metrics);
      if (http !== undefined) this.http = await this.#listenForHttp(http);
      if (amqp !== undefined) this.amqp = await this.#listenForAmqp(amqp).catch(this.#refuse('amqp'));
    } catch (error) {
      await Promise.all([this.http?.close(), this.metrics?.close()]);
      this.http = this.metrics = undefined;
      throw error;
    }
  }

  /** Closes the ports and all connections (320). */
  async close(): Promise<void> {
    await Promise.all([this.http?.close(), this.amqp?.close(), this.metrics?.close()]);
    (await this.#meter)?.stop();
  }

  /** The meter of this broker. */
  #meterOf(): Promise<Meter> {
    return (this.#meter ??= this.#makeMeter());
  }

  async #makeMeter(): Promise<Meter> {
    const { broker, data } = this;
    const [{ Meter }, { Machine }] = await Promise.all([metrics(), management()]);
    return new Meter(
      {
        broker,
        nodeName: this.#host.nodeName ?? 'rabbit@localhost',
        machine: new Machine(broker, data?.directory, this.#memory),
        diskLimit: data?.diskFreeLimit ?? 0,
        alarms: () => this.#host.alarms?.() ?? [],
        journal: data && meteredJournal(data),
      },
      { handlers: this.handlers },
    );
  }

  /** Starts the measurements that cost time, such as the delay of the event loop. Idempotent. */
  async measure(): Promise<Meter> {
    const meter = await this.#meterOf();
    meter.start();
    this.data?.journal.measure();
    return meter;
  }

  async #listenForMetrics(options: MetricsOptions): Promise<MetricsListener> {
    const { MetricsListener } = await metrics();
    const listener = new MetricsListener(await this.measure(), options, this.options.log);
    await listener.open().catch(this.#refuse('metrics'));
    return listener;
  }

  async #listenForAmqp(amqp: NonNullable<ListenersOptions['amqp']>): Promise<Listener> {
    const { http, log, notice } = this.options;
    const place = this.http && { port: this.http.port, isSecure: http?.tls !== undefined };
    const { listen } = await import('../../amqp/server/index.js');
    return listen(this.broker, {
      ...(log && { log }),
      ...(notice && { notice }),
      ...amqp,
      throttle: this.#throttle,
      ...(place && { http: place }),
      memory: this.#memory,
      alarms: [...(amqp.alarms ?? []), ...this.#alarms],
    });
  }

  async #listenForHttp(http: HttpOptions): Promise<HttpListener> {
    const { audit, log } = this.options;
    const [{ AuditFile, listenHttp }, { metricsResources }] = await Promise.all([management(), metrics()]);
    const resources = [...(http.resources ?? []), ...metricsResources(await this.#meterOf())];
    const options = { ...http, resources };
    if (audit === undefined) return listenHttp(this.#host, options).catch(this.#refuse('http'));
    const file = await AuditFile.open(audit, (error) => log?.(error)).catch(this.#refuse('audit'));
    return listenHttp({ ...this.#host, audit: file }, options).catch(async (error: Error) => {
      await file.close();
      return this.#refuse('http')(error);
    });
  }

  #refuse(part: Part): (error: Error) => never {
    return (error) => {
      throw this.options.refused?.(part, error) ?? error;
    };
  }
}

/** This room and `metrics/` are loaded when they are first used, because reading them from disk delays the start. So is `amqp/`. */
const management = () => import('../index.js');
const metrics = () => import('../metrics/index.js');

const meteredJournal = ({ journal }: Data): MeteredJournal => ({
  get bytes() {
    return journal.stats.bytes;
  },
  get syncs() {
    return journal.syncs;
  },
});

/** Space may come back, so publishers wait for it. A failed disk does not recover, so publishers get an error. */
const isLow = ({ journal }: Data): boolean => journal.isFull && !journal.hasFailed;
