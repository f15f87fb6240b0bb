import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import amqplib, { type ConfirmChannel, type GetMessage } from 'amqplib';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { addressIn, type Child, isBuilt, kill, start } from '../served.js';

const folder = mkdtempSync(join(tmpdir(), 'redelivered-'));
const running: Child[] = [];
afterEach(async () => {
  for (const child of running.splice(0)) await kill(child);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(directory: string, level = 'error'): Child {
  const child = start(
    'serve',
    '--amqp',
    '127.0.0.1:0',
    '--log-level',
    level,
    '--rabbitmq',
    '3.10',
    '--data',
    directory,
  );
  running.push(child);
  return child;
}

async function serve(directory: string): Promise<ConfirmChannel> {
  const child = run(directory);
  const connection = await amqplib.connect(`amqp://${addressIn(await child.ready)}`);
  connection.on('error', () => undefined); // it is killed
  return connection.createConfirmChannel();
}

/** Takes so many, and keeps them in its hands. @returns body, flag and count of each */
async function take(channel: ConfirmChannel, queue: string, count: number): Promise<string[]> {
  const seen: string[] = [];
  for (; count > 0; count--) {
    const { content, fields, properties } = (await channel.get(queue)) as GetMessage;
    const counted = (properties.headers as Record<string, unknown> | undefined)?.['x-delivery-count'];
    seen.push([content.toString(), fields.redelivered ? 'again' : 'fresh', counted].join(' ').trim());
  }
  return seen;
}

async function publish(channel: ConfirmChannel, queue: string, ...bodies: string[]): Promise<void> {
  for (const body of bodies) channel.sendToQueue(queue, Buffer.from(body), { persistent: true });
  await channel.waitForConfirms();
}

describe.skipIf(!isBuilt && process.env['CI'] === undefined)('what was in hands when a server is killed', () => {
  it(
    'is redelivered as RabbitMQ 3.10.8 does: counted in quorum queues, all flagged in classic ones',
    { timeout: 60_000 },
    async () => {
      const directory = mkdtempSync(join(folder, 'data-'));
      let channel = await serve(directory);
      await channel.assertQueue('quorum', { durable: true, arguments: { 'x-queue-type': 'quorum' } });
      await channel.assertQueue('classic', { durable: true });
      await channel.assertQueue('other', { durable: true });
      for (const queue of ['quorum', 'classic']) await publish(channel, queue, 'a', 'b', 'c', 'd');
      expect(await take(channel, 'quorum', 2)).toEqual(['a fresh 0', 'b fresh 0']);
      expect(await take(channel, 'classic', 2)).toEqual(['a fresh', 'b fresh']);
      for (const life of [1, 2]) {
        // What is confirmed now is behind the deliveries in the log, which so are on the disk, too.
        await publish(channel, 'other', 'x');
        await kill(running.pop() as Child);
        channel = await serve(directory);
        expect(await take(channel, 'quorum', 2)).toEqual([`a again ${life}`, `b again ${life}`]);
        expect(await take(channel, 'classic', 2)).toEqual(['a again', 'b again']);
      }
      await publish(channel, 'other', 'x');
      await kill(running.pop() as Child);
      channel = await serve(directory);
      expect(await take(channel, 'quorum', 4)).toEqual(['a again 3', 'b again 3', 'c fresh 0', 'd fresh 0']);
      // A classic queue does not store which messages were delivered.
      expect(await take(channel, 'classic', 4)).toEqual(['a again', 'b again', 'c again', 'd again']);
    },
  );
});

describe.skipIf(!isBuilt && process.env['CI'] === undefined)('a server that is stopped while it starts', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('ends well at %s, and marks no message as redelivered', async (signal) => {
    const directory = join(folder, signal);
    const channel = await serve(directory);
    await channel.assertQueue('work', { durable: true });
    await publish(channel, 'work', 'one');
    const [first] = running.splice(0) as [Child];
    first.process.kill('SIGTERM');
    await first.ended;
    // The next start waits for a sign of life of this process, for ten seconds.
    const unseen = 'process-7-0000abcd.lock';
    writeFileSync(join(directory, unseen), JSON.stringify({ pid: 7, boot: 'earlier' }));
    const kept = readdirSync(directory);
    const second = run(directory, 'info');
    while (readdirSync(directory).filter((name) => name.endsWith('.lock')).length < 2) await setTimeout(5);
    second.process.kill(signal);
    expect(await second.ended).toEqual({ code: 0, output: '', errors: `info ${signal}: the start is given up\n` });
    expect(readdirSync(directory)).toEqual(kept);
    rmSync(join(directory, unseen));
    expect(await take(await serve(directory), 'work', 1)).toEqual(['one fresh']);
  });
});
