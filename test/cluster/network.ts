import { execFileSync } from 'node:child_process';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** From what a node is cut off: from the other nodes only, or from the applications as well. */
export type From = 'nodes' | 'all';

/** How the nodes of a cluster reach one another, and how applications reach the nodes. */
export interface Network {
  /** For the report. */
  readonly name: string;
  /** The IPv4 address on which a node listens. Nodes count from 1. */
  host(node: number): string;
  /** Where applications connect to the AMQP port of a node, as `host:port`. */
  entrance(node: number, port: number): Promise<string>;
  /** The words before a command that runs at the place of a node. */
  prefix(node: number): readonly string[];
  /** Nothing goes to or from this node any more, without an end of connections. */
  cut(node: number, from: From): void;
  mend(node: number, from: From): void;
  /** False if {@link cut} separates the node from the applications only. */
  readonly separatesNodes: boolean;
  close(): void;
}

/** Each node in a network namespace of its own, all on one bridge. */
class Namespaces implements Network {
  readonly name = 'network namespaces';
  readonly separatesNodes = true;
  readonly #prefix = `dlx${process.pid}`;
  readonly #subnet = `10.213.${process.pid % 250}`;

  constructor(readonly nodes: readonly number[]) {
    try {
      ip('link', 'add', this.#prefix, 'type', 'bridge');
      ip('addr', 'add', `${this.#subnet}.254/24`, 'dev', this.#prefix);
      ip('link', 'set', this.#prefix, 'up');
      for (const node of nodes) this.#add(node, this.#space(node));
    } catch (error) {
      this.close();
      throw error;
    }
  }

  host(node: number): string {
    return `${this.#subnet}.${node}`;
  }

  async entrance(node: number, port: number): Promise<string> {
    return `${this.host(node)}:${port}`;
  }

  prefix(node: number): readonly string[] {
    return ['ip', 'netns', 'exec', this.#space(node)];
  }

  cut(node: number, from: From): void {
    if (from === 'all') ip('link', 'set', this.#space(node), 'down');
    else this.#neighbours(node, ['replace'], ['lladdr', '02:00:00:00:00:01', 'nud', 'permanent']); // no card has this address
  }

  mend(node: number, from: From): void {
    if (from === 'all') ip('link', 'set', this.#space(node), 'up');
    else this.#neighbours(node, ['del'], []);
  }

  /** Changes what a node and each other node know of the card of one another. */
  #neighbours(node: number, before: readonly string[], after: readonly string[]): void {
    for (const other of this.nodes.filter((each) => each !== node))
      for (const [one, two] of [
        [node, other],
        [other, node],
      ] as const)
        ip('-n', this.#space(one), 'neigh', ...before, this.host(two), 'dev', 'eth0', ...after);
  }

  close(): void {
    for (const node of this.nodes) attempt('netns', 'del', this.#space(node));
    attempt('link', 'del', this.#prefix);
  }

  /** The name of a namespace, and of the end of its cable at the bridge. */
  #space(node: number): string {
    return `${this.#prefix}n${node}`;
  }

  #add(node: number, space: string): void {
    ip('netns', 'add', space);
    ip('link', 'add', space, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space);
    ip('link', 'set', space, 'master', this.#prefix, 'up');
    ip('-n', space, 'addr', 'add', `${this.host(node)}/24`, 'dev', 'eth0');
    ip('-n', space, 'link', 'set', 'eth0', 'up');
    ip('-n', space, 'link', 'set', 'lo', 'up');
  }
}

const ip = (...words: readonly string[]): void => void execFileSync('ip', words, { stdio: 'pipe' });

function attempt(...words: readonly string[]): void {
  try {
    ip(...words);
  } catch {
    // It was not made, or it is gone.
  }
}

/** All nodes on 127.0.0.1, and a TCP proxy in front of each. */
class Proxies implements Network {
  readonly name = 'proxies';
  readonly separatesNodes = false;
  readonly #proxies = new Map<number, CutProxy>();

  host(): string {
    return '127.0.0.1';
  }

  async entrance(node: number, port: number): Promise<string> {
    const proxy = this.#proxies.get(node) ?? new CutProxy(port);
    this.#proxies.set(node, proxy);
    return `127.0.0.1:${await proxy.port}`;
  }

  prefix(): readonly string[] {
    return [];
  }

  cut(node: number, from: From): void {
    if (from === 'all') this.#proxies.get(node)?.cut();
  }

  mend(node: number, from: From): void {
    if (from === 'all') this.#proxies.get(node)?.mend();
  }

  close(): void {
    for (const proxy of this.#proxies.values()) proxy.close();
  }
}

/** A proxy that can stop to pass bytes. Connections stay open meanwhile, and new ones are taken and get no answer. */
class CutProxy {
  readonly port: Promise<number>;
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #isCut = false;

  constructor(port: number) {
    this.#server = createServer((near) => {
      const pair = [near, connect(port, '127.0.0.1')] as const;
      this.#pairs.add(pair);
      if (!this.#isCut) join(pair);
      for (const socket of pair) {
        socket.setNoDelay(true).on('error', () => undefined);
        socket.on('close', () => {
          this.#pairs.delete(pair);
          for (const each of pair) each.destroy();
        });
      }
    });
    this.port = new Promise((resolve) =>
      this.#server.listen(0, '127.0.0.1', () => resolve((this.#server.address() as AddressInfo).port)),
    );
  }

  cut(): void {
    this.#isCut = true;
    for (const [near, far] of this.#pairs) {
      near.unpipe(far);
      far.unpipe(near);
    }
  }

  mend(): void {
    this.#isCut = false;
    for (const pair of this.#pairs) join(pair);
  }

  close(): void {
    this.#server.close();
    for (const [near] of this.#pairs) near.destroy();
  }
}

function join([near, far]: readonly [Socket, Socket]): void {
  near.pipe(far);
  far.pipe(near);
}

/** Network namespaces where this process may make them, otherwise proxies. `CLUSTER_NETWORK=proxies` asks for proxies. */
export function openNetwork(nodes: readonly number[]): Network {
  if (process.env['CLUSTER_NETWORK'] !== 'proxies') {
    try {
      return new Namespaces(nodes);
    } catch {
      // No `ip`, no right, or no such kernel.
    }
  }
  return new Proxies();
}
