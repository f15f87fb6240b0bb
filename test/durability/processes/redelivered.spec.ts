import { mkdtempSync, rmSync } from 'node:fs';
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

async function serve(directory: string): Promise<ConfirmChannel> {
  const child = start('serve', '--amqp', '127.0.0.1:0', '--log-level', 'error', '--data', directory);
  running.push(child);
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
      const directory = join(folder, 'data');
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
