import { openRedis } from '../peers/redis.js';
import { dataFolder } from './data-folder.js';
import type { Pace, Result } from './measure.js';
import { withBullMq } from './programs/bullmq.js';
import { appendAndSync } from './programs/disk.js';
import { openRabbit, type Server } from './servers.js';
import type { Target } from './target.js';

/** A program that is measured beside this broker. */
export interface Rival {
  readonly name: string;
  /** The settings of its program, if they differ from those of the case. */
  readonly client?: string;
  /** @returns undefined when it is not installed */
  open(): Promise<Server | undefined>;
  /** Its own program, if it cannot run that of the case. */
  run?(target: Target, pace: Pace): Promise<Result>;
}

export const rabbit: Rival = { name: 'RabbitMQ', open: openRabbit };

/** A folder on the disk of the checkout, for a program that needs no server. @param name of the folder */
export async function openFolder(name: string): Promise<Server> {
  const { folder, remove } = dataFolder(name);
  const target = { name, host: '', port: 0, vhost: '', user: '', password: '', pid: process.pid, folder };
  return { target, close: async () => remove() };
}

/** The limit of the disk: batches of records of one size, each written and then synced. */
export const disk = (records: number, size: number): Rival => ({
  name: `this disk, ${records} at a time`,
  client: 'none',
  open: () => openFolder('disk'),
  run: (target, pace) => appendAndSync(target.folder as string, records, size, pace),
});

/** Jobs instead of messages. Each is on disk before its answer. */
export const bullMq = (outstanding: number, size: number): Rival => ({
  name: 'BullMQ, Redis syncing always',
  client: 'bullmq',
  open: openSyncingRedis,
  run: (target, pace) => withBullMq(target, pace, outstanding, size),
});

/** A Redis that has each write on disk before it answers. */
async function openSyncingRedis(): Promise<Server | undefined> {
  const { folder, remove } = dataFolder('redis');
  try {
    const { port, pid, stop } = await openRedis(['--appendonly', 'yes', '--appendfsync', 'always'], folder);
    const target = { name: 'Redis', host: '127.0.0.1', port, vhost: '', user: '', password: '', pid };
    return { target, close: () => stop().then(remove) };
  } catch (error) {
    remove();
    console.warn(`SKIPPED: BullMQ: ${(error as Error).message}`);
    return undefined;
  }
}
