import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import amqplib from 'amqplib';
import { afterAll, describe, expect, it } from 'vitest';
import { addressIn, isBuilt, kill, start } from '../served.js';

const place = mkdtempSync(join(tmpdir(), 'full-'));
const filler = join(place, 'filler');
const isMounted = mounted();
afterAll(() => {
  if (isMounted) execFileSync('umount', ['--lazy', place]);
  rmSync(place, { recursive: true, force: true });
});

/** Only the superuser may have a disk of its own to fill. */
function mounted(): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'tmpfs', place], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

if (!isMounted) console.warn('SKIPPED: a full disk under dlx-broker serve: no disk can be mounted here');

describe.skipIf(!isMounted || (!isBuilt && process.env['CI'] === undefined))('dlx-broker serve on a full disk', () => {
  it('blocks publishers, lives, loses nothing that was confirmed, and goes on', { timeout: 60_000 }, async () => {
    writeFileSync(filler, Buffer.alloc(24 * 1024 * 1024));
    const args = ['serve', '--amqp', '127.0.0.1:0', '--data', join(place, 'data'), '--disk-free-limit', '2MiB'];
    let server = start(...args);
    try {
      let connection = await amqplib.connect(`amqp://${addressIn(await server.ready)}`);
      let channel = await connection.createConfirmChannel();
      await channel.assertQueue('work', { durable: true });
      const blocked = once(connection, 'blocked');
      const unblocked = once(connection, 'unblocked');
      let confirmed = 0;
      let refused = 0;
      let isBlocked = false;
      void blocked.then(() => (isBlocked = true));
      while (!isBlocked) {
        for (let count = 0; count < 20; count++) {
          channel.publish('', 'work', Buffer.alloc(10_000), { persistent: true }, (error) => {
            if (error === null) confirmed++;
            else refused++;
          });
        }
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      expect(await blocked).toEqual(['low on disk']);
      expect(confirmed).toBeGreaterThan(10);
      rmSync(filler);
      await unblocked;
      await channel.waitForConfirms().catch(() => undefined); // nacks of what came too late
      expect(refused).toBeLessThan(2_000);
      const before = confirmed;
      channel.publish('', 'work', Buffer.from('room again'), { persistent: true });
      await channel.waitForConfirms();
      connection.on('error', () => undefined);
      await kill(server);
      server = start(...args);
      connection = await amqplib.connect(`amqp://${addressIn(await server.ready)}`);
      channel = await connection.createConfirmChannel();
      expect((await channel.checkQueue('work')).messageCount).toBe(before + 1);
      await connection.close();
    } finally {
      await kill(server);
    }
  });
});
