import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A Redis for one measurement. */
export interface OwnRedis {
  readonly port: number;
  readonly pid: number;
  /** Ends it. Its data are not kept. */
  stop(): Promise<void>;
}

/**
 * A server on a free port, by default in memory only.
 * @param options of redis-server
 * @param folder the data directory, which the caller owns; default: a temporary one until it stops
 * @throws when there is no redis-server, or it ends at once
 */
export async function openRedis(options: readonly string[] = [], folder?: string): Promise<OwnRedis> {
  const port = await freePort();
  const own = folder === undefined ? mkdtempSync(join(tmpdir(), 'bench-redis-')) : undefined;
  const place = ['--port', String(port), '--bind', '127.0.0.1', '--dir', (folder ?? own) as string];
  const server = spawn('redis-server', [...place, '--save', '', ...options], { stdio: 'ignore' });
  const exited = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  const discard = (): void => {
    server.kill('SIGKILL');
    if (own !== undefined) rmSync(own, { recursive: true, force: true });
  };
  process.once('exit', discard);
  const ended = exited.then(() => Promise.reject(new Error('redis-server ended at once')));
  const failed = once(server, 'error').then(([error]) => Promise.reject(error as Error));
  for (const promise of [ended, failed]) promise.catch(() => undefined);
  await Promise.race([answers(port), ended, failed]);
  const stop = async (): Promise<void> => {
    server.kill('SIGKILL');
    await exited;
    process.removeListener('exit', discard);
    discard();
  };
  return { port, pid: server.pid as number, stop };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function answers(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await sleep(20);
  }
}
