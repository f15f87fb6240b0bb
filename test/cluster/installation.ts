import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';

const directory = process.env['RABBITMQ_4_DIR'];

/** What the nodes and their commands see as `/`: with `RABBITMQ_4_DIR` the root that test/rabbitmq-4.sh made there, otherwise all. */
export const root = directory === undefined ? '' : resolve(directory, 'forky');

/** The path by which a node knows a file. */
const inside = (path: string): string => path.slice(root.length);

/** The folder of the server's own scripts: those in the path of Debian change the user and drop the environment. */
export function scripts(): string | undefined {
  const given = process.env['RABBITMQ_SBIN'];
  if (given !== undefined) return given;
  const installed = join(root, '/usr/lib/rabbitmq/lib');
  const versions = existsSync(installed)
    ? readdirSync(installed).filter((name) => name.startsWith('rabbitmq_server-'))
    : [];
  const newest = versions.sort((one, other) => one.localeCompare(other, 'en', { numeric: true })).at(-1);
  return newest === undefined ? undefined : inside(join(installed, newest, 'sbin'));
}

/** Why no cluster can be started here; undefined when one can. */
export const whyNoCluster = (): string | undefined =>
  scripts() === undefined
    ? `no RabbitMQ server is installed${directory === undefined ? '' : ` in ${directory}`}, and RABBITMQ_SBIN names none`
    : undefined;

/** A node, its place and its ports. */
export interface Node {
  readonly number: number;
  /** The first of the ports of the cluster, at which Erlang's register of nodes listens. */
  readonly base: number;
  readonly name: string;
  readonly host: string;
  readonly amqp: number;
  readonly http: number;
  readonly distribution: number;
  readonly folder: string;
}

/** The memory at which a node raises its alarm. */
export const memory = '1GB';

/** Writes the files that all nodes read, and those of each node. */
export function configure(folder: string, nodes: readonly Node[]): void {
  mkdirSync(join(folder, 'home'));
  writeFileSync(join(folder, 'home', '.erlang.cookie'), randomBytes(16).toString('hex'), { mode: 0o400 });
  writeFileSync(join(folder, 'none'), '');
  writeFileSync(join(folder, 'plugins'), '[rabbitmq_management].\n');
  // By default the server waits 180 s for a confirm of a dead letter whose target has lost its leader.
  const settings = '{dead_letter_worker_publisher_confirm_timeout, 5000}, {dead_letter_worker_consumer_prefetch, 256}';
  writeFileSync(join(folder, 'advanced.config'), `[{rabbit, [${settings}]}].\n`);
  for (const { folder: own, host, amqp, http } of nodes) {
    for (const name of ['data', 'log', 'generated']) mkdirSync(join(own, name), { recursive: true });
    const lines = [
      `listeners.tcp.default = ${host}:${amqp}`,
      `management.tcp.ip = ${host}`,
      `management.tcp.port = ${http}`,
      'loopback_users = none',
      'management.rates_mode = none',
      'cluster_formation.peer_discovery_backend = classic_config',
      ...nodes.map(({ number, name }) => `cluster_formation.classic_config.nodes.${number} = ${name}`),
      'cluster_partition_handling = pause_minority',
      `vm_memory_high_watermark.absolute = ${memory}`,
      'disk_free_limit.absolute = 500MB',
      'net_ticktime = 10',
      'collect_statistics_interval = 2000',
    ];
    writeFileSync(join(own, 'rabbitmq.conf'), `${lines.join('\n')}\n`);
  }
}

/** The environment of a node and of the commands for it: nothing else is inherited but the path. */
export function environmentOf(
  all: string,
  { base, name, host, amqp, distribution, folder: own }: Node,
): NodeJS.ProcessEnv {
  const [shared, folder] = [inside(all), inside(own)];
  const listensAt = `{${host.replaceAll('.', ',')}}`;
  return {
    PATH: process.env['PATH'],
    LANG: 'C.UTF-8',
    HOME: join(shared, 'home'),
    ERL_EPMD_PORT: String(base),
    ERL_EPMD_ADDRESS: host,
    RABBITMQ_USE_LONGNAME: 'true', // the part after the @ is an address
    RABBITMQ_NODENAME: name,
    RABBITMQ_NODE_PORT: String(amqp),
    RABBITMQ_DIST_PORT: String(distribution),
    RABBITMQ_CTL_DIST_PORT_MIN: String(base + 30),
    RABBITMQ_CTL_DIST_PORT_MAX: String(base + 59),
    RABBITMQ_MNESIA_BASE: join(folder, 'data'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq.conf'),
    RABBITMQ_ADVANCED_CONFIG_FILE: join(shared, 'advanced.config'),
    RABBITMQ_CONF_ENV_FILE: join(shared, 'none'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(shared, 'plugins'),
    RABBITMQ_PID_FILE: join(folder, 'pid'),
    RABBITMQ_GENERATED_CONFIG_DIR: join(folder, 'generated'),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: `-kernel inet_dist_use_interface ${listensAt} +S 2:2`,
  };
}

/** The first of 30 ports that are free in a row, as far as the ones in use show. */
export async function freeBase(): Promise<number> {
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
