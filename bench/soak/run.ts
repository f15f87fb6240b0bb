import { setTimeout as sleep } from 'node:timers/promises';
import amqplib from 'amqplib';
import { Random } from '../random.js';
import { Churn } from './churn.js';
import { Ledger, type Totals } from './ledger.js';
import { type Latencies, Probe } from './probe.js';
import { Publisher } from './publisher.js';
import { type Event, scheduleOf } from './schedule.js';
import { SoakServer, type Taken } from './server.js';
import { dead, declare, keys, numbered, parked, policyPattern } from './topology.js';
import { Worker } from './worker.js';

export interface SoakOptions {
  readonly minutes: number;
  readonly seed: number;
  /** Messages a second, of all publishers together. */
  readonly rate: number;
  /** An existing empty folder. */
  readonly folder: string;
  /** Ends the load early; the account is closed all the same. */
  readonly signal: AbortSignal;
  /** Gets a line now and then. */
  readonly say: (line: string) => void;
}

/** The figures of one moment. */
export interface Sample extends Taken, Latencies {
  /** Seconds from the start of the soak. */
  readonly time: number;
  readonly life: number;
  /** Messages that workers acked, a second. */
  readonly handled: number;
}

export interface SoakResult {
  /** How long the load lasted, in seconds, and how long it was meant to last. */
  readonly seconds: number;
  readonly planned: number;
  readonly samples: readonly Sample[];
  readonly totals: Totals;
  readonly wrong: readonly string[];
  /** How often each kind of happening took place. */
  readonly happened: Readonly<Record<string, number>>;
  /** Starts of the server: seconds from the start of the soak, and milliseconds until it was ready. */
  readonly starts: readonly { readonly time: number; readonly took: number }[];
  readonly connections: number;
}

const publishers = 4;
const workersEach = 2;
const parkedMessages = 5_000;
/** Time in seconds for the queues to be emptied at the end. */
const grace = 300;

/** Runs a whole soak. The server has ended when it returns. */
export async function soak(options: SoakOptions): Promise<SoakResult> {
  const server = new SoakServer(options.folder);
  try {
    return await new Soak(options, server).run();
  } finally {
    await server.end('SIGKILL');
  }
}

class Soak {
  readonly #ledger = new Ledger();
  readonly #samples: Sample[] = [];
  readonly #starts: { time: number; took: number }[] = [];
  readonly #happened: Record<string, number> = {};
  #begin = performance.now();
  #isDraining = false;
  #killable: readonly (Publisher | Worker)[] = [];
  #workers: readonly Worker[] = [];
  #publishers: readonly Publisher[] = [];
  #handledBefore = { count: 0, time: 0 };

  constructor(
    private readonly options: SoakOptions,
    private readonly server: SoakServer,
  ) {}

  async run(): Promise<SoakResult> {
    const { minutes, seed, rate, signal } = this.options;
    const planned = minutes * 60;
    await this.#start();
    await this.#prepare();
    const address = (): string | undefined => this.server.amqp;
    const random = new Random(seed);
    const draw = (): Random => new Random(random.integer(1, 2 ** 31));
    this.#publishers = Array.from(
      { length: publishers },
      () => new Publisher(address, this.#ledger, draw(), rate / publishers),
    );
    this.#workers = keys.flatMap((key) =>
      Array.from({ length: workersEach }, () => new Worker(address, key, this.#ledger, draw(), () => this.#isDraining)),
    );
    this.#killable = [...this.#publishers, ...this.#workers];
    const [probe, churn] = [new Probe(address), new Churn(address)];
    this.#begin = performance.now();
    await this.#load(scheduleOf(seed, planned, this.#killable.length), planned, probe);
    const seconds = this.#time();
    if (signal.aborted) this.options.say(`ended after ${seconds.toFixed(0)} of ${planned} seconds`);
    await churn.stop();
    await probe.stop();
    await this.#drain();
    return {
      seconds,
      planned,
      samples: this.#samples,
      totals: this.#ledger.totals(),
      wrong: this.#ledger.close(),
      happened: this.#happened,
      starts: this.#starts,
      connections: [...this.#killable, probe, churn].reduce((sum, client) => sum + client.connections, 0),
    };
  }

  #time(): number {
    return (performance.now() - this.#begin) / 1_000;
  }

  async #start(): Promise<void> {
    const took = await this.server.start();
    this.#starts.push({ time: this.#starts.length === 0 ? 0 : this.#time(), took });
  }

  /** Declares everything, and parks messages that stay until the end. */
  async #prepare(): Promise<void> {
    const connection = await amqplib.connect(this.server.amqp as string);
    const channel = await connection.createConfirmChannel();
    await declare(channel);
    for (let count = 0; count < parkedMessages; count++) {
      const number = this.#ledger.publish();
      const properties = { persistent: true, messageId: String(number) };
      channel.publish('', parked, Buffer.alloc(500), properties, (error) => {
        if (error === null) this.#ledger.confirmed(number);
      });
    }
    await channel.waitForConfirms();
    await connection.close();
  }

  /** Samples at even times, and does everything of the schedule. */
  async #load(schedule: readonly Event[], planned: number, probe: Probe): Promise<void> {
    const period = Math.min(10, Math.max(1, planned / 200));
    const events = [...schedule];
    let next = period;
    while (this.#time() < planned && !this.options.signal.aborted) {
      const event = events[0];
      const at = Math.min(next, event?.at ?? Infinity, planned);
      await sleep(Math.max(0, (at - this.#time()) * 1_000), undefined, { signal: this.options.signal }).catch(
        () => undefined,
      );
      if (this.options.signal.aborted) return;
      if (event !== undefined && event.at <= this.#time()) {
        events.shift();
        await this.#happen(event);
      }
      if (this.#time() >= next) {
        next = this.#time() + period;
        await this.#sample(probe);
      }
    }
  }

  async #happen(event: Event): Promise<void> {
    this.#happened[event.kind] = (this.#happened[event.kind] ?? 0) + 1;
    switch (event.kind) {
      case 'kill a client':
        return this.#killable[event.client]?.kill();
      case 'policy':
        return this.#policy(event.definition);
      case 'redrive':
        return this.#redrive();
      case 'kill the server':
        await this.server.end('SIGKILL');
        return this.#start();
      case 'stop the server':
        await this.server.end('SIGTERM');
        return this.#start();
    }
  }

  async #policy(definition: Readonly<Record<string, string | number>> | undefined): Promise<void> {
    const body = { pattern: policyPattern, definition, 'apply-to': 'queues' };
    if (definition !== undefined) await this.server.ask('PUT', 'policies/%2F/soak', body);
    // Without a policy the answer is 404.
    else await this.server.ask('DELETE', 'policies/%2F/soak').catch(() => undefined);
  }

  /** Takes the dead letters back to their queues, unless the last redrive goes on (409). */
  async #redrive(): Promise<void> {
    const body = { vhost: '/', queue: dead, rate: 0, circuit: false };
    await this.server.ask('POST', 'dlx/redrives', body).catch((error: Error) => {
      if (!error.message.includes(' 409 ')) throw error;
    });
  }

  async #sample(probe: Probe): Promise<void> {
    const latencies = probe.window();
    probe.isPaused = true;
    const taken = await this.server.taken();
    probe.isPaused = false;
    const count = this.#workers.reduce((sum, worker) => sum + worker.handled, 0);
    const time = this.#time();
    const handled = (count - this.#handledBefore.count) / (time - this.#handledBefore.time);
    this.#handledBefore = { count, time };
    this.#samples.push({ time, life: this.server.life, ...taken, ...latencies, handled });
    if (this.#samples.length % 10 === 0) {
      const memory = `${(taken.resident / 1e6).toFixed(0)} MB, ${taken.descriptors} descriptors`;
      const late = `p99 ${latencies.deliveredLate.toFixed(1)} ms`;
      this.options.say(
        `${time.toFixed(0)} s: ${handled.toFixed(0)} msg/s, ${memory}, ${late}, ${this.#ledger.wrong.length} wrong`,
      );
    }
  }

  /** Stops the publishers, empties every queue, and starts the server once more: nothing may come back. */
  async #drain(): Promise<void> {
    this.#isDraining = true;
    for (const publisher of this.#publishers) publisher.isStopped = true;
    await this.#policy(undefined);
    const address = (): string | undefined => this.server.amqp;
    const last = new Worker(address, parked, this.#ledger, new Random(1), () => true);
    const end = performance.now() + grace * 1_000;
    let left = Infinity;
    while (left > 0 && performance.now() < end) {
      await sleep(500);
      await this.#redrive();
      left = await this.#left();
    }
    const workers = [...this.#workers, last];
    while (!workers.every((worker) => worker.isSafe()) && performance.now() < end) await sleep(50);
    for (const client of [...this.#publishers, ...workers]) await client.stop();
    await this.server.end('SIGKILL');
    await this.#start();
    const back = await this.#left();
    if (left > 0) this.#ledger.fault(`${left} messages were still in queues ${grace} s after the end of the load`);
    else if (back > 0) this.#ledger.fault(`${back} messages came back after the last start of the server`);
  }

  /** Messages with a number that are in queues, in the hands of workers or not. */
  async #left(): Promise<number> {
    const queues = (await this.server.ask('GET', 'queues/%2F')) as readonly { name: string; messages: number }[];
    return queues.filter(({ name }) => numbered.includes(name)).reduce((sum, { messages }) => sum + messages, 0);
  }
}
