import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { configure, environmentOf, freeBase, memory, type Node, root, scripts } from './installation.js';
import { type From, type Network, openNetwork } from './network.js';

/** A node, and its process while it runs. */
interface RunningNode extends Node {
  process: ChildProcess | undefined;
}

const authorization = `Basic ${Buffer.from('guest:guest').toString('base64')}`;

const numbers = [1, 2, 3] as const;

/**
 * Three nodes of RabbitMQ on this machine, one cluster, on ports and in a folder of their own. Each node is a group of processes, so that
 * a signal reaches all of it.
 */
export class ClusterNodes {
  readonly #folder = mkdtempSync(join(root === '' ? tmpdir() : join(root, 'tmp'), 'dlx-cluster-'));
  readonly #nodes: readonly RunningNode[];
  /** By address: Erlang's register of the nodes there. */
  readonly #epmds = new Map<string, ChildProcess>();

  private constructor(
    readonly base: number,
    readonly network: Network,
  ) {
    this.#nodes = numbers.map((number) => ({
      number,
      base,
      name: `test${number}@${network.host(number)}`,
      host: network.host(number),
      amqp: base + number,
      http: base + 10 + number,
      distribution: base + 20 + number,
      folder: join(this.#folder, `node-${number}`),
      process: undefined,
    }));
  }

  /** Starts all nodes. @returns when they are one cluster */
  static async start(): Promise<ClusterNodes> {
    const cluster = new ClusterNodes(await freeBase(), openNetwork(numbers));
    process.once('exit', cluster.#abandon); // nodes are groups of their own, and would outlive this process
    try {
      configure(cluster.#folder, cluster.#nodes);
      for (const node of cluster.#nodes) cluster.#register(node);
      for (const node of cluster.#nodes) cluster.#launch(node);
      await Promise.all(cluster.#nodes.map((node) => cluster.#ready(node, 3)));
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** Where applications connect. */
  urls(): Promise<readonly string[]> {
    const url = async ({ number, amqp }: Node): Promise<string> =>
      `amqp://guest:guest@${await this.network.entrance(number, amqp)}`;
    return Promise.all(this.#nodes.map(url));
  }

  /** The management API of a node. */
  get managementUrl(): string {
    const { host, http } = this.#nodes[0]!;
    return `http://${host}:${http}`;
  }

  /** What the nodes run, such as 4.3.6. */
  async version(): Promise<string> {
    return ((await this.#ask(this.#nodes[0]!, '/overview')) as { rabbitmq_version: string }).rabbitmq_version;
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

  /** The number of the node to which an application is connected. The nodes tell of a connection after some seconds. */
  async nodeOfApplication(): Promise<number> {
    for (let left = 100; left > 0; left -= 1) {
      const [connection] = (await this.#ask(this.#nodes[0]!, '/connections?columns=node')) as { node: string }[];
      const node = this.#nodes.find(({ name }) => name === connection?.node);
      if (node !== undefined) return node.number;
      await wait(100);
    }
    throw new Error('no application is connected');
  }

  /** Ends nodes at once, without a word. */
  kill(...killed: readonly number[]): Promise<void> {
    return this.#end('SIGKILL', killed);
  }

  /** Ends a node as for an upgrade: its leaders go to other nodes first, and then it stops. */
  async shutDown(number: number): Promise<void> {
    await this.#run(number, 'rabbitmq-upgrade', 'drain');
    await this.#end('SIGTERM', [number]);
  }

  /** Gives a node so little memory that it raises its alarm. */
  async alarm(number: number): Promise<void> {
    await this.#run(number, 'rabbitmqctl', 'set_vm_memory_high_watermark', '0');
  }

  async endAlarm(number: number): Promise<void> {
    await this.#run(number, 'rabbitmqctl', 'set_vm_memory_high_watermark', 'absolute', memory);
  }

  /** Separates a node from the other nodes, or also from all applications. No connection of an application ends by it. */
  async cut(number: number, from: From): Promise<void> {
    if (!this.network.separatesNodes) {
      await this.#eval(number, (other) => `erlang:set_cookie('${other}', cut), erlang:disconnect_node('${other}')`);
    }
    this.network.cut(number, from);
  }

  async mend(number: number, from: From): Promise<void> {
    if (!this.network.separatesNodes) {
      await this.#eval(number, (other) => `erlang:set_cookie('${other}', erlang:get_cookie())`);
    }
    this.network.mend(number, from);
  }

  /**
   * Waits until a node that was apart belongs to the others again. RabbitMQ sometimes leaves such a node alone until an operator
   * restarts it; after a minute, this does.
   * @returns true if the node had to be restarted
   */
  async rejoin(number: number): Promise<boolean> {
    try {
      await this.#ready(this.#node(number), this.#running.length, 60_000);
      return false;
    } catch {
      await this.kill(number);
      await this.up(number);
      return true;
    }
  }

  pause(number: number): void {
    this.#signal('SIGSTOP', [number]);
  }

  resume(number: number): void {
    this.#signal('SIGCONT', [number]);
  }

  /** Starts killed nodes again. @returns when they answer */
  async up(...starting: readonly number[]): Promise<void> {
    for (const number of starting) this.#launch(this.#node(number));
    await Promise.all(starting.map((number) => this.#ready(this.#node(number), this.#running.length)));
  }

  async stop(): Promise<void> {
    await this.kill(...this.#running);
    this.#abandon();
    process.off('exit', this.#abandon);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #running(): readonly number[] {
    return this.#nodes.filter(({ process: child }) => child !== undefined).map(({ number }) => number);
  }

  readonly #abandon = (): void => {
    this.#signal('SIGKILL', this.#running);
    for (const epmd of this.#epmds.values()) epmd.kill();
    this.network.close();
  };

  async #end(signal: 'SIGKILL' | 'SIGTERM', ending: readonly number[]): Promise<void> {
    const ended = ending.map((number) => {
      const { process: child } = this.#node(number);
      return child && !hasEnded(child) && new Promise((resolve) => child.once('exit', resolve));
    });
    this.#signal(signal, ending);
    await Promise.all(ended);
    for (const number of ending) this.#node(number).process = undefined;
  }

  /** Runs one of the server's own commands for a node. */
  async #run(number: number, command: string, ...words: readonly string[]): Promise<void> {
    const node = this.#node(number);
    const [program, ...args] = this.#commandAt(node, join(scripts() as string, command));
    await promisify(execFile)(program, [...args, ...words], {
      env: environmentOf(this.#folder, node),
      timeout: 120_000,
    });
  }

  async #eval(number: number, expression: (other: string) => string): Promise<void> {
    const others = this.#nodes.filter((node) => node.number !== number);
    await this.#run(number, 'rabbitmqctl', 'eval', `${others.map(({ name }) => expression(name)).join(', ')}.`);
  }

  #node(number: number): RunningNode {
    return this.#nodes[number - 1] as RunningNode;
  }

  #signal(signal: NodeJS.Signals, targets: readonly number[]): void {
    for (const number of targets) {
      const { process: child } = this.#node(number);
      if (child?.pid !== undefined && !hasEnded(child)) process.kill(-child.pid, signal);
    }
  }

  #launch(node: RunningNode): void {
    const log = openSync(join(node.folder, 'log', 'output'), 'a');
    const [program, ...words] = this.#commandAt(node, join(scripts() as string, 'rabbitmq-server'));
    const env = environmentOf(this.#folder, node);
    node.process = spawn(program, words, { detached: true, stdio: ['ignore', log, log], env }); // a group of its own
    closeSync(log);
  }

  /** Starts Erlang's register of nodes at the place of a node, unless it runs there. */
  #register(node: Node): void {
    if (this.#epmds.has(node.host)) return;
    const [program, ...words] = this.#commandAt(node, 'epmd');
    const epmd = spawn(program, [...words, '-port', String(this.base), '-address', node.host], { stdio: 'ignore' });
    this.#epmds.set(node.host, epmd);
  }

  #commandAt({ number }: Node, command: string): readonly [string, ...string[]] {
    const within = root === '' ? [] : ['chroot', root];
    const [first = command, ...others] = [...this.network.prefix(number), ...within, command];
    return [first, ...others];
  }

  /** Waits until a node knows of so many running nodes, itself included, and takes AMQP connections. */
  async #ready(node: Node, running: number, timeout = 120_000): Promise<void> {
    const until = Date.now() + timeout;
    for (;;) {
      const missing = await this.#missing(node, running).catch((error: Error) => String(error.cause ?? error));
      if (missing === undefined) return;
      if (Date.now() > until) {
        const output = readFileSync(join(node.folder, 'log', 'output'), 'utf8').slice(-2_000);
        throw new Error(`node ${node.name} is not ready after ${timeout / 1_000} s: ${missing}\n${output}`);
      }
      await wait(200);
    }
  }

  /** @returns what a node lacks to be ready; undefined when it is @throws Error when it gives no answer */
  async #missing(node: Node, running: number): Promise<string | undefined> {
    const nodes = (await this.#ask(node, '/nodes?columns=name,running')) as { name: string; running: boolean }[];
    const up = nodes.filter((each) => each.running).map(({ name }) => name);
    if (up.length < running || !up.includes(node.name)) return `it knows of ${up.join(', ')}`;
    return (await answers(node)) ? undefined : 'it takes no connections';
  }

  async #ask({ host, http }: Node, path: string): Promise<unknown> {
    const signal = AbortSignal.timeout(3_000);
    const response = await fetch(`http://${host}:${http}/api${path}`, { headers: { authorization }, signal });
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return response.json();
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

const answers = ({ host, amqp }: Node): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(amqp, host, () => resolve(true));
    socket.once('error', () => resolve(false)).once('connect', () => socket.destroy());
  });
