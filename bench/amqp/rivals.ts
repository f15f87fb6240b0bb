import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { dataFolder } from './data-folder.js';
import type { Pace, Result } from './measure.js';
import { withBullMq } from './programs/bullmq.js';
import { appendAndSync } from './programs/disk.js';
import { openRabbit, type Server } from './servers.js';
import type { Target } from './target.js';

/** Somebody who is measured beside us. */
export interface Rival {
  readonly name: string;
  /** @returns undefined when it is not there */
  open(): Promise<Server | undefined>;
  /** Its own program, where that of the case is not for it. */
  run?(target: Target, pace: Pace): Promise<Result>;
}

export const rabbit: Rival = { name: 'RabbitMQ', open: openRabbit };

/** What the disk can do at all: so many records of a size written at once, then synced, and again. */
export const disk = (records: number, size: number): Rival => ({
  name: `this disk, ${records} at a time`,
  open: async () => {
    const { folder, remove } = dataFolder('disk');
    const target = { name: 'disk', host: '', port: 0, vhost: '', user: '', password: '', pid: process.pid, folder };
    return { target, close: async () => remove() };
  },
  run: (target, pace) => appendAndSync(target.folder as string, records, size, pace),
});

export const bullMq = (outstanding: number, size: number): Rival => ({
  name: 'BullMQ, Redis syncing always',
  open: openRedis,
  run: (target, pace) => withBullMq(target, pace, outstanding, size),
});

/** A Redis of our own that has each write on disk before it answers. */
async function openRedis(): Promise<Server | undefined> {
  const { folder, remove } = dataFolder('redis');
  const port = await freePort();
  const options = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '', '--dir', folder];
  const child = spawn('redis-server', ['--bind', '127.0.0.1', '--port', String(port), ...options], { stdio: 'ignore' });
  const failed = once(child, 'error').then(() => 'failed' as const);
  const exited = once(child, 'exit');
  if ((await Promise.race([failed, answers(port)])) === 'failed') {
    console.warn('SKIPPED: BullMQ: there is no redis-server here');
    return void remove();
  }
  const target = {
    name: 'Redis',
    host: '127.0.0.1',
    port,
    vhost: '',
    user: '',
    password: '',
    pid: child.pid as number,
  };
  const close = async (): Promise<void> => {
    child.kill('SIGKILL'); // its data are not wanted any more
    await exited;
    remove();
  };
  return { target, close };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
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
