import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import amqplib from 'amqplib';
import { afterAll, describe, expect, it } from 'vitest';
import { Random } from '../../fuzz/random.js';
import { addressIn, isBuilt, kill, start, startScript } from '../served.js';

const place = mkdtempSync(join(tmpdir(), 'edited-'));
const disk = join(place, 'disk');
const isMounted = mounted();
afterAll(() => {
  if (isMounted) execFileSync('umount', ['--lazy', disk]);
  rmSync(place, { recursive: true, force: true });
});

/** Only the superuser may have a disk of its own to fill. */
function mounted(): boolean {
  mkdirSync(disk);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A directory with a queue that holds messages, and so many others that all declarations are long. */
async function filled(directory: string, others: number): Promise<void> {
  const server = start('serve', '--amqp', '127.0.0.1:0', '--data', directory, '--disk-free-limit', '0');
  const connection = await amqplib.connect(`amqp://${addressIn(await server.ready)}`);
  const channel = await connection.createConfirmChannel();
  await channel.assertQueue('work', { durable: true });
  const declared = Array.from({ length: others }, (_, index) =>
    channel.assertQueue(`${'long.name.'.repeat(20)}${index}`, { durable: true }),
  );
  await Promise.all(declared);
  for (let count = 0; count < 50; count++) channel.sendToQueue('work', Buffer.alloc(200), { persistent: true });
  await channel.waitForConfirms();
  await connection.close();
  server.process.kill('SIGTERM');
  await server.ended;
}

/** Leaves so many bytes of the small disk. */
function fill(bytes: number): void {
  writeFileSync(join(disk, 'room'), Buffer.alloc(bytes));
  try {
    for (let count = 0; ; count++) writeFileSync(join(disk, `filler-${count}`), Buffer.alloc(4_096));
  } catch {
    rmSync(join(disk, 'room'));
  }
}

/** Lines of `data check` about one queue. */
async function found(directory: string): Promise<string> {
  const { output, code } = await start('data', 'check', directory).ended;
  const lines = output.split('\n').filter((line) => line.startsWith("queue 'work"));
  return `${code}: ${lines.join('; ')}`;
}

const before = "0: queue 'work' in vhost '/': 50 messages";
const edits = {
  rename: { words: ['work', 'work.old'], after: "0: queue 'work.old' in vhost '/': 50 messages" },
  remove: { words: ['work', '--with-messages'], after: '0: ' },
} as const;
const each = Object.entries(edits);
const isAsked = isBuilt || process.env['CI'] !== undefined;

describe.skipIf(!isAsked)('dlx-broker data that is killed', () => {
  it.each(each)(
    '%s: the queue is as it was or as it should be, and nothing stands in the way',
    async (how, edit) => {
      const original = join(place, `original-${how}`);
      await filled(original, 0);
      const random = new Random(13);
      const directory = join(place, `killed-${how}`);
      for (let round = 0; round < 3; round++) {
        rmSync(directory, { recursive: true, force: true });
        cpSync(original, directory, { recursive: true });
        const child = start('data', how, directory, ...edit.words);
        await child.ready; // it has looked, and begins now
        await setTimeout(random.integer(0, 25));
        await kill(child);
        const isDone = /^(renamed|removed)$/m.test((await child.ended).output);
        const is = await found(directory);
        expect(isDone ? [edit.after] : [before, edit.after]).toContain(is);
        const again = await start('data', how, directory, ...edit.words).ended;
        expect(again.code).toBe(is === before ? 0 : 2);
      }
    },
    30_000,
  );
});

describe.skipIf(!isMounted || !isAsked)('on a full disk', () => {
  it('data rename and remove change nothing, say so, and leave nothing behind', { timeout: 60_000 }, async () => {
    const directory = join(disk, 'data');
    await filled(directory, 1_500);
    fill(8_192);
    const names = readdirSync(directory);
    for (const [how, { words }] of each) {
      const { code, errors } = await start('data', how, directory, ...words).ended;
      expect(errors).toBe(
        `dlx-broker: the disk of ${directory} is full. Nothing was changed; make room, and try again\n`,
      );
      expect(code).toBe(2);
    }
    fill(0);
    const none = await start('data', 'rename', directory, 'work', 'work.old').ended;
    expect(none.errors).toMatch(/^dlx-broker: ENOSPC.*is full\. Nothing that was kept is lost; make room/);
    expect(await found(directory)).toBe(before);
    expect(readdirSync(directory)).toEqual(names);
    for (const name of readdirSync(disk)) if (name.startsWith('filler')) rmSync(join(disk, name));
    expect((await start('data', 'rename', directory, 'work', 'work.old').ended).code).toBe(0);
    expect(await found(directory)).toBe(edits.rename.after);
  });

  it('an application waits for room to begin, and does not end in silence', { timeout: 60_000 }, async () => {
    for (const name of readdirSync(disk)) rmSync(join(disk, name), { recursive: true });
    fill(4_096);
    const child = startScript('processes/data-app.mjs', join(disk, 'app'));
    await setTimeout(1_500);
    expect(child.process.exitCode, 'it waits').toBeNull();
    for (const name of readdirSync(disk)) if (name.startsWith('filler')) rmSync(join(disk, name));
    expect(await child.ready).toContain('ready');
    await kill(child);
  });
});
