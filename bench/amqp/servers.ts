import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dataFolder } from './data-folder.js';
import type { Target } from './target.js';

/** A server, and the function that ends it. */
export interface Server {
  readonly target: Target;
  /** The address of its management API, if it has one. */
  readonly http?: string;
  close(): Promise<void>;
}

const command = fileURLToPath(new URL('../bin/dlx-broker.js', import.meta.resolve('dlx-broker')));
const probeModule = new URL('memory-probe.js', import.meta.url).href;
const guest = { user: 'guest', password: 'guest' } as const;

/**
 * A fresh `dlx-broker serve`.
 * @param flags of node, such as `--cpu-prof`
 * @param options of `serve`
 * @returns when it is ready
 */
export async function startOurs(
  flags: readonly string[] = [],
  withProbe = true,
  options: readonly string[] = [],
): Promise<Server> {
  const probe = join(tmpdir(), `dlx-broker-bench-${process.pid}-${Date.now()}.sock`);
  const probing = withProbe ? ['--expose-gc', '--import', probeModule] : [];
  const args = [...flags, ...probing, command, 'serve', '--amqp', '127.0.0.1:0', ...options];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...(withProbe && { BENCH_MEMORY_PROBE: probe }) },
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let output = '';
  for await (const chunk of child.stdout) {
    output += String(chunk);
    const port = Number(/ amqps?=127\.0\.0\.1:([0-9]+)/.exec(output)?.[1]);
    if (!(port > 0)) continue;
    const pid = child.pid as number;
    const target = {
      name: 'dlx-broker',
      host: '127.0.0.1',
      port,
      vhost: '/',
      ...guest,
      pid,
      ...(withProbe && { probe }),
    };
    const close = (): Promise<void> => {
      child.kill('SIGTERM');
      return exited;
    };
    const http = / (https?)=(127\.0\.0\.1:[0-9]+)/.exec(output);
    return { target, ...(http && { http: `${http[1]}://${http[2]}` }), close };
  }
  await exited;
  throw new Error(`dlx-broker serve ended with ${child.exitCode} ${output}`.trim());
}

/** The same with a data directory on the disk of the checkout; undefined for a version without data directories. */
export async function startDurable(): Promise<Server | undefined> {
  const { folder, remove } = dataFolder('dlx-broker');
  try {
    const { target, close } = await startOurs([], true, ['--data', folder]);
    return { target, close: () => close().then(remove) };
  } catch (error) {
    remove();
    console.warn(`SKIPPED: dlx-broker with a data directory: ${(error as Error).message.trim()}`);
    return undefined;
  }
}

/** The same with TLS and a certificate of its own; undefined without openssl. */
export async function startSecured(): Promise<Server | undefined> {
  const { folder, remove } = dataFolder('certificates');
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const args = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-subj',
    '/CN=bench',
  ];
  const { status } = spawnSync('openssl', [...args, '-days', '1', '-keyout', key, '-out', cert]);
  try {
    if (status !== 0) return undefined;
    const { target, close } = await startOurs([], true, ['--tls-cert', cert, '--tls-key', key]);
    return { target: { ...target, tls: true }, close };
  } finally {
    remove();
  }
}

/** A virtual host of its own on the RabbitMQ of this machine; undefined when none runs. */
export async function openRabbit(): Promise<Server | undefined> {
  const vhost = `dlx-broker-bench-${process.pid}-${Date.now()}`;
  const pid = listenerOf(5672);
  if (pid === undefined) return undefined;
  await manage('PUT', `vhosts/${vhost}`);
  const rights = { configure: '.*', write: '.*', read: '.*' };
  await manage('PUT', `permissions/${vhost}/guest`, rights);
  const target = { name: 'RabbitMQ', host: '127.0.0.1', port: 5672, vhost, ...guest, pid };
  return { target, close: () => manage('DELETE', `vhosts/${vhost}`) };
}

async function manage(verb: string, path: string, body: object = {}): Promise<void> {
  const authorization = `Basic ${Buffer.from('guest:guest').toString('base64')}`;
  const headers = { authorization, 'content-type': 'application/json' };
  const init = { method: verb, headers, ...(verb === 'PUT' && { body: JSON.stringify(body) }) };
  const response = await fetch(`http://127.0.0.1:15672/api/${path}`, init);
  if (!response.ok) throw new Error(`${verb} ${path}: ${response.status} ${await response.text()}`);
}

/** The process that listens on a port, if this user may see it. */
function listenerOf(port: number): number | undefined {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const sockets = new Set<string>();
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of readFileSync(file, 'latin1').split('\n')) {
      const fields = line.trim().split(/\s+/);
      if (fields[1]?.endsWith(local) === true && fields[3] === '0A') sockets.add(`socket:[${fields[9]}]`);
    }
  }
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number)
    .find((pid) => openFiles(pid).some((file) => sockets.has(file)));
}

function openFiles(pid: number): string[] {
  try {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).map((name) => readlinkSync(join(folder, name)));
  } catch {
    return []; // it has ended, or belongs to another user
  }
}
