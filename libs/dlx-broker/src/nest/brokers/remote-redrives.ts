import {
  type Backend,
  loadRabbitMq,
  parseAddresses,
  type RabbitMqLog,
  type RabbitMqOptions,
} from '../../backend/index.js';
import { bracketed, shownText } from '../../host/index.js';
import type { Password, RemoteMover, RemoteOrder, StartRedrive } from '../../management/index.js';
import { DeadLetters, type RedriveProgress, Redrives, type RedriveTask } from '../../streams/index.js';

/** The names of the states in the API of the console. */
const states = {
  running: 'running',
  paused: 'paused',
  waiting: 'tripped',
  stopped: 'stopped',
  done: 'completed',
  failed: 'failed',
} as const satisfies Record<RedriveProgress['state'], string>;

const nothingYet: RedriveProgress = { state: 'running', total: 0, redriven: 0, left: 0, arrived: 0, destinations: {} };

/** Makes redrives that connect to the servers of an application as their own users. */
export const redrivesOver =
  (options: RabbitMqOptions, log: RabbitMqLog): StartRedrive =>
  (order) =>
    new ConnectedRedrive(options, order, log);

/** A redrive with a connection of its own. The server checks the rights of its user, also for routing keys. */
class ConnectedRedrive implements RemoteMover {
  readonly ended: Promise<void>;
  #backend: Backend | undefined;
  #task: RedriveTask | undefined;
  #failure: unknown;
  #isPaused = false;
  #isStopped = false;
  /** The counts when the connection was closed. The connection and its password are forgotten then. */
  #last: RemoteMover['counts'] | undefined;
  #watchedUntil: number | undefined;

  constructor(
    private readonly options: RabbitMqOptions,
    order: RemoteOrder & Password,
    private readonly log: RabbitMqLog,
  ) {
    this.ended = this.#run(order).catch((error: unknown) => {
      this.#failure = error;
    });
    void this.ended.then(() => this.#closeLater());
  }

  get counts(): RemoteMover['counts'] {
    return this.#last ?? this.#counts();
  }

  #counts(): RemoteMover['counts'] {
    const {
      state,
      total,
      redriven,
      left,
      unproven = 0,
      arrived,
      destinations,
      error,
    } = this.#task?.current ?? nothingYet;
    const counts = { total, moved: redriven, left, unproven, cameBack: arrived, destinations };
    if (this.#failure !== undefined)
      return { ...counts, state: this.#isStopped ? 'stopped' : 'failed', error: this.#failure };
    const before = this.#isStopped ? 'stopped' : this.#isPaused ? 'paused' : 'running';
    return { ...counts, state: this.#task === undefined ? before : states[state], error };
  }

  get watchedUntil(): number | undefined {
    return this.#task?.watchedUntil?.getTime() ?? this.#watchedUntil;
  }

  pause(): void {
    this.#isPaused = true;
    this.#task?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#task?.resume();
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#task === undefined) void this.#backend?.close(); // it is connecting
    this.#task?.stop();
  }

  async close(): Promise<void> {
    this.#isStopped = true;
    if (this.#task === undefined) await this.#backend?.close();
    this.#task?.close();
    await this.ended;
    await this.#release();
  }

  async #run({ vhost, queue, user, password, to, rate, limit, circuit }: RemoteOrder & Password): Promise<void> {
    const { openRabbitMq } = await loadRabbitMq();
    const { options, log } = this;
    const backend = (this.#backend = openRabbitMq(
      {
        urls: () => urlsFor(options.urls, vhost),
        credentials: { user, password },
        ...(options.tls !== undefined && { tls: options.tls }),
        ...(options.heartbeat !== undefined && { heartbeat: options.heartbeat }),
        connectionName: `dlx-broker console: redrive of ${shownText(queue, 100)}`,
        startAttempts: 1,
      },
      log,
    ));
    await backend.connect();
    if (this.#isStopped) return;
    const letters = new DeadLetters(backend);
    const task = (this.#task = new Redrives(backend, letters).start({
      from: queue,
      ...(to !== undefined && { to }),
      perSecond: rate,
      limit,
      circuit:
        circuit === undefined ? false : { share: Math.max(0.01, circuit.percent / 100), atLeast: circuit.atLeast },
    }));
    if (this.#isPaused) task.pause();
    await task.ended;
  }

  /** The connection stays open as long as messages that come back are counted. */
  #closeLater(): void {
    const wait = Math.max(0, (this.watchedUntil ?? 0) - Date.now());
    const timer = setTimeout(() => void this.#release(), wait);
    timer.unref();
  }

  /** Closes the connection, and keeps what is shown of the redrive. */
  async #release(): Promise<void> {
    this.#watchedUntil = this.watchedUntil;
    this.#last = this.counts;
    const backend = this.#backend;
    this.#task = this.#backend = undefined;
    await backend?.close();
  }
}

/** The servers of the application, with another virtual host, and without the login of the application. */
async function urlsFor(urls: RabbitMqOptions['urls'], vhost: string): Promise<readonly string[]> {
  const given = await (typeof urls === 'function' ? urls() : urls);
  return parseAddresses(given, "option 'urls' of rabbitmq()").map(
    ({ host, port, isSecure }) =>
      `${isSecure ? 'amqps' : 'amqp'}://${bracketed(host)}:${port}/${encodeURIComponent(vhost)}`,
  );
}
