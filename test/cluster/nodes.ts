import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const installed = '/usr/lib/rabbitmq/lib';

/** The folder of the server's own scripts: those in the path of Debian change the user and drop the environment. */
function scripts(): string | undefined {
  const given = process.env['RABBITMQ_SBIN'];
  if (given !== undefined) return given;
  const versions = existsSync(installed)
    ? readdirSync(installed).filter((name) => name.startsWith('rabbitmq_server-'))
    : [];
  const newest = versions.sort((one, other) => one.localeCompare(other, 'en', { numeric: true })).at(-1);
  return newest === undefined ? undefined : join(installed, newest, 'sbin');
}

/** Why no cluster can be started here; undefined when one can. */
export const whyNoCluster = (): string | undefined =>
  scripts() === undefined ? 'no RabbitMQ server is installed, and RABBITMQ_SBIN names none' : undefined;

interface Node {
  readonly number: number;
  readonly name: string;
  readonly amqp: number;
  readonly http: number;
  readonly distribution: number;
  readonly folder: string;
  process: ChildProcess | undefined;
}

const authorization = `Basic ${Buffer.from('guest:guest').toString('base64')}`;

/**
 * Three nodes of RabbitMQ on this machine, one cluster, on ports and in a folder of their own. Each node is a group of processes, so that
 * a signal reaches all of it.
 */
export class ClusterNodes {
  readonly #folder = mkdtempSync(join(tmpdir(), 'dlx-cluster-'));
  readonly #nodes: readonly Node[];
  #epmd: ChildProcess | undefined;

  private constructor(readonly base: number) {
    this.#nodes = [1, 2, 3].map((number) => ({
      number,
      name: `test${number}@localhost`,
      amqp: base + number,
      http: base + 10 + number,
      distribution: base + 20 + number,
      folder: join(this.#folder, `node-${number}`),
      process: undefined,
    }));
  }

  /** Starts all nodes. @returns when they are one cluster */
  static async start(): Promise<ClusterNodes> {
    const cluster = new ClusterNodes(await freeBase());
    process.once('exit', cluster.#end); // nodes are groups of their own, and would outlive this process
    try {
      cluster.#configure();
      cluster.#epmd = spawn('epmd', ['-port', String(cluster.base), '-address', '127.0.0.1'], { stdio: 'ignore' });
      for (const node of cluster.#nodes) cluster.#launch(node);
      await Promise.all(cluster.#nodes.map((node) => cluster.#ready(node, 3)));
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  get urls(): readonly string[] {
    return this.#nodes.map(({ amqp }) => `amqp://guest:guest@127.0.0.1:${amqp}`);
  }

  /** The number of the node on which a queue's leader is. */
  async leaderOf(queue: string): Promise<number> {
    const path = `/queues/%2F/${encodeURIComponent(queue)}?columns=leader,node`;
    for (const node of this.#nodes) {
      const found = (await this.#ask(node, path).catch(() => undefined)) as
        { leader?: string; node?: string } | undefined;
      const leader = this.#nodes.find(({ name }) => name === (found?.leader ?? found?.node));
      if (leader !== undefined) return leader.number;
    }
    throw new Error(`no node knows the leader of queue '${queue}'`);
  }

  /** Ends nodes at once, without a word. */
  async kill(...numbers: readonly number[]): Promise<void> {
    const ended = numbers.map((number) => {
      const { process: child } = this.#node(number);
      return child && !hasEnded(child) && new Promise((resolve) => child.once('exit', resolve));
    });
    this.#signal('SIGKILL', numbers);
    await Promise.all(ended);
    for (const number of numbers) this.#node(number).process = undefined;
  }

  pause(...numbers: readonly number[]): void {
    this.#signal('SIGSTOP', numbers);
  }

  resume(...numbers: readonly number[]): void {
    this.#signal('SIGCONT', numbers);
  }

  /** Starts killed nodes again. @returns when they answer */
  async up(...numbers: readonly number[]): Promise<void> {
    for (const number of numbers) this.#launch(this.#node(number));
    await Promise.all(numbers.map((number) => this.#ready(this.#node(number), 1)));
  }

  async stop(): Promise<void> {
    await this.kill(...this.#running);
    this.#end();
    process.off('exit', this.#end);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #running(): readonly number[] {
    return this.#nodes.filter(({ process: child }) => child !== undefined).map(({ number }) => number);
  }

  readonly #end = (): void => {
    this.#signal('SIGKILL', this.#running);
    this.#epmd?.kill();
  };

  #node(number: number): Node {
    return this.#nodes[number - 1] as Node;
  }

  #signal(signal: NodeJS.Signals, numbers: readonly number[]): void {
    for (const number of numbers) {
      const { process: child } = this.#node(number);
      if (child?.pid !== undefined && !hasEnded(child)) process.kill(-child.pid, signal);
    }
  }

  #configure(): void {
    mkdirSync(join(this.#folder, 'home'));
    writeFileSync(join(this.#folder, 'home', '.erlang.cookie'), randomBytes(16).toString('hex'), { mode: 0o400 });
    writeFileSync(join(this.#folder, 'none'), '');
    writeFileSync(join(this.#folder, 'plugins'), '[rabbitmq_management].\n');
    // By default the server waits 180 s for a confirm of a dead letter whose target has lost its leader.
    const settings =
      '{dead_letter_worker_publisher_confirm_timeout, 5000}, {dead_letter_worker_consumer_prefetch, 256}';
    writeFileSync(join(this.#folder, 'advanced.config'), `[{rabbit, [${settings}]}].\n`);
    for (const { folder, amqp, http } of this.#nodes) {
      for (const name of ['data', 'log', 'generated']) mkdirSync(join(folder, name), { recursive: true });
      const lines = [
        `listeners.tcp.default = 127.0.0.1:${amqp}`,
        'management.tcp.ip = 127.0.0.1',
        `management.tcp.port = ${http}`,
        'management.rates_mode = none',
        'cluster_formation.peer_discovery_backend = classic_config',
        ...this.#nodes.map(({ number, name }) => `cluster_formation.classic_config.nodes.${number} = ${name}`),
        'cluster_partition_handling = pause_minority',
        'vm_memory_high_watermark.absolute = 1GB',
        'disk_free_limit.absolute = 500MB',
        'net_ticktime = 10',
        'collect_statistics_interval = 2000',
      ];
      writeFileSync(join(folder, 'rabbitmq.conf'), `${lines.join('\n')}\n`);
    }
  }

  #launch(node: Node): void {
    const { name, amqp, distribution, folder } = node;
    const log = openSync(join(folder, 'log', 'output'), 'a');
    node.process = spawn(join(scripts() as string, 'rabbitmq-server'), {
      detached: true, // a group of processes of its own
      stdio: ['ignore', log, log],
      env: {
        PATH: process.env['PATH'],
        LANG: 'C.UTF-8',
        HOME: join(this.#folder, 'home'),
        ERL_EPMD_PORT: String(this.base),
        ERL_EPMD_ADDRESS: '127.0.0.1',
        RABBITMQ_NODENAME: name,
        RABBITMQ_NODE_PORT: String(amqp),
        RABBITMQ_DIST_PORT: String(distribution),
        RABBITMQ_MNESIA_BASE: join(folder, 'data'),
        RABBITMQ_LOG_BASE: join(folder, 'log'),
        RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq.conf'),
        RABBITMQ_ADVANCED_CONFIG_FILE: join(this.#folder, 'advanced.config'),
        RABBITMQ_CONF_ENV_FILE: join(this.#folder, 'none'),
        RABBITMQ_ENABLED_PLUGINS_FILE: join(this.#folder, 'plugins'),
        RABBITMQ_PID_FILE: join(folder, 'pid'),
        RABBITMQ_GENERATED_CONFIG_DIR: join(folder, 'generated'),
        RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1} +S 2:2',
      },
    });
  }

  /** Waits until a node knows of so many running nodes, itself included, and takes AMQP connections. */
  async #ready(node: Node, running: number): Promise<void> {
    const until = Date.now() + 120_000;
    for (;;) {
      try {
        const nodes = (await this.#ask(node, '/nodes?columns=name,running')) as { name: string; running: boolean }[];
        const up = nodes.filter((each) => each.running);
        if (up.length >= running && up.some(({ name }) => name === node.name) && (await answers(node.amqp))) return;
      } catch {
        // It does not answer yet.
      }
      if (Date.now() > until) throw new Error(`node ${node.name} is not ready after two minutes`);
      await wait(200);
    }
  }

  async #ask({ http }: Node, path: string): Promise<unknown> {
    const signal = AbortSignal.timeout(3_000);
    const response = await fetch(`http://127.0.0.1:${http}/api${path}`, { headers: { authorization }, signal });
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return response.json();
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.once('error', () => resolve(false)).once('connect', () => socket.destroy());
  });

/** The first of 30 ports that are free in a row, as far as the ones in use show. */
async function freeBase(): Promise<number> {
  for (let base = 23_000 + Math.floor(Math.random() * 80) * 100; ; base += 100) {
    const ports = [0, 1, 2, 3, 11, 12, 13, 21, 22, 23].map((offset) => base + offset);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return base;
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
