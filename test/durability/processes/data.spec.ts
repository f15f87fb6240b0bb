import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import amqplib from 'amqplib';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { Broker } from '../../../libs/dlx-broker/src/engine/broker/index.js';
import { ManualClock } from '../../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { openData } from '../../../libs/dlx-broker/src/store/index.js';
import { crc32 } from '../../../libs/dlx-broker/src/store/log/bytes.js';
import { formatVersion } from '../../../libs/dlx-broker/src/store/log/segment-header.js';
import { listen } from '../../harnesses/listener.js';
import { lent } from '../harness.js';
import { addressIn, type Child, isBuilt, kill, start } from '../served.js';

const fixture = join(import.meta.dirname, '../fixtures/format-1');
const folder = mkdtempSync(join(tmpdir(), 'data-'));
const running: Child[] = [];
let count = 0;
afterEach(async () => {
  for (const child of running.splice(0)) await kill(child);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A data directory with everything in it, to be spoilt. */
function copied(): string {
  const directory = join(folder, `copy-${++count}`);
  cpSync(fixture, directory, { recursive: true });
  return directory;
}

const segment = (directory: string): string => join(directory, '0000000001.log');

/** Changes the bytes of its only segment. */
function change(directory: string, how: (bytes: Buffer) => Buffer | void): void {
  const bytes = readFileSync(segment(directory));
  writeFileSync(segment(directory), how(bytes) ?? bytes);
}

function serve(directory: string): Child {
  const child = start('serve', '--amqp', '127.0.0.1:0', '--data', directory);
  running.push(child);
  return child;
}

const filesIn = (directory: string): Map<string, string> =>
  new Map(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name)).toString('latin1')]));

describe.skipIf(!isBuilt && process.env['CI'] === undefined)('dlx-broker data', () => {
  it('check counts what is there, and changes nothing', async () => {
    const directory = copied();
    const { code, output, errors } = await start('data', 'check', directory).ended;
    expect(errors).toBe('');
    expect(output.split('\n').slice(1)).toEqual([
      "queue 'dead' in vhost '/': 1 message",
      "queue 'work' in vhost '/': 3 messages",
      "queue 'agreed' in vhost '/': 1 message",
      "queue 'work' in vhost 'other': 1 message",
      'everything is as it was written',
      '',
    ]);
    expect(output).toContain('1 segment,');
    expect(code).toBe(0);
    expect(filesIn(directory)).toEqual(filesIn(fixture));
  });

  it('check tells what is damaged, by file and queue, with exit code 1, and repairs nothing', async () => {
    const directory = copied();
    change(directory, (bytes) => void bytes.write('BODY', bytes.indexOf('body 1')));
    const spoilt = filesIn(directory);
    const { code, output } = await start('data', 'check', directory).ended;
    expect(output).toMatch(/0000000001\.log: bytes \d+ to \d+ are not what was written/);
    expect(output).toContain("queue 'work' in vhost '/': 1 messages are lost");
    expect(output).toContain("queue 'work' in vhost '/': 2 messages");
    expect(code).toBe(1);
    expect(filesIn(directory)).toEqual(spoilt);
  });

  it('check names segments that a copy lacks, with exit code 1', async () => {
    const directory = join(folder, 'copied-while-running');
    const data = await openData(directory, { segment: 2_000, diskFree: 0 });
    const broker = new Broker({ ...lent(new ManualClock()), journal: data.journal });
    await data.restore(broker);
    const { channel } = listen(broker);
    channel.declareQueue('q', { durable: true });
    for (let left = 8; left > 0; left--) {
      channel.publish('', 'q', { deliveryMode: 2 }, Buffer.alloc(1_000));
      await data.journal.flush();
    }
    await data.close();
    expect((await start('data', 'check', directory).ended).code).toBe(0);
    rmSync(segment(directory));
    const { code, output } = await start('data', 'check', directory).ended;
    expect(output).toMatch(/^0000000001\.log is missing, .*restore the directory from a backup/m);
    expect(output).toContain('some of it is not as it was written');
    expect(code).toBe(1);
  });

  it('export writes every message with its deaths, types and bytes', async () => {
    const { code, output, errors } = await start('data', 'export', copied()).ended;
    expect(errors).toBe('');
    expect(code).toBe(0);
    const lines = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map(({ vhost, queue }) => `${vhost as string} ${queue as string}`)).toEqual([
      '/ dead',
      '/ work',
      '/ work',
      '/ work',
      '/ agreed',
      'other work',
    ]);
    expect(lines[0]).toMatchObject({
      exchange: 'dlx',
      routing_key: 'work',
      body: 'body 0',
      deaths: [
        { queue: 'work', reason: 'rejected', count: 1, time: '2026-01-01T12:00:00.000Z', routing_keys: ['work'] },
      ],
    });
    const { headers } = (lines[1] as { properties: { headers: object } }).properties;
    expect(JSON.stringify(headers)).toBe(
      '{"short":{"short":-3},"long":{"long":"1152921504606846976"},"__proto__":{"table":{"inner":{"array":[{"bool":true}]}}},"bytes":{"binary":"AQI="},"nothing":{"void":null}}',
    );
    expect(lines[1]).toMatchObject({ redelivered: true, body: 'body 1' });
    expect(lines[2]).toMatchObject({ redelivered: false, properties: { content_type: 'text/plain', priority: 3 } });
    expect(lines[3]).toMatchObject({ body_base64: '//4A', expires: '2026-01-01T12:01:00.000Z' });
  });

  it.each<[string, () => string, RegExp]>([
    [
      'a directory that is not there',
      () => join(folder, 'nowhere'),
      /nowhere is not there\. Nothing was read or written; check the path/,
    ],
    ['an empty one', () => mkdtempSync(join(folder, 'empty-')), /is empty: no dlx-broker has kept anything there/],
  ])('refuses %s with exit code 2', async (_, directory, text) => {
    for (const what of ['check', 'export']) {
      const { code, errors } = await start('data', what, directory()).ended;
      expect(errors).toMatch(text);
      expect(errors.trim().split('\n')).toHaveLength(1);
      expect(code).toBe(2);
    }
  });
});

describe.skipIf(!isBuilt && process.env['CI'] === undefined)('dlx-broker serve --data', () => {
  const newerVersion = formatVersion + 1;
  const newer = (bytes: Buffer): void => {
    for (const at of [0, 512]) {
      bytes.writeUInt16BE(newerVersion, at + 8);
      bytes.writeUInt32BE(crc32(bytes, at, at + 24, 0), at + 24);
    }
  };
  it.each<[string, (directory: string) => void, RegExp]>([
    [
      'a newer format',
      (directory) => change(directory, newer),
      new RegExp(`has format ${newerVersion}: a newer version of dlx-broker wrote it\\. Nothing was`),
    ],
    [
      'a file that only has the name of a segment',
      (directory) => writeFileSync(segment(directory), 'dear diary, '.repeat(100)),
      /has the name of a segment of the log and is none\. Nothing was changed/,
    ],
    [
      'a directory full of other things',
      (directory) => {
        rmSync(segment(directory));
        writeFileSync(join(directory, 'letter.txt'), 'dear');
      },
      /is no data directory: there is no log in it, but letter\.txt\. Nothing was changed/,
    ],
    [
      'a lock of something else',
      (directory) => writeFileSync(join(directory, 'yarn.lock'), '# yarn'),
      /yarn\.lock is no lock of a dlx-broker/,
    ],
    [
      'a file instead of a directory',
      (directory) => {
        rmSync(directory, { recursive: true });
        writeFileSync(directory, '');
      },
      /^dlx-broker: \S+ is a file\. Nothing was changed; name a directory/,
    ],
    ['a place below nowhere', (directory) => rmSync(directory, { recursive: true }), /the data directory is not there/],
  ])('refuses %s in one line, with exit code 2, and touches nothing', async (what, spoil, text) => {
    const directory = copied();
    spoil(directory);
    const before = existsSync(directory) && !what.startsWith('a file i') ? filesIn(directory) : undefined;
    const { code, errors } = await serve(what.includes('nowhere') ? join(directory, 'deeper') : directory).ended;
    expect(errors).toMatch(text);
    expect(errors.trim().split('\n')).toHaveLength(1);
    expect(code).toBe(2);
    if (before !== undefined) expect(filesIn(directory)).toEqual(before);
  });

  it.each(['nowhere/below', 'a file/below'])('data check says that %s is not there', async (name) => {
    writeFileSync(join(folder, 'a file'), '');
    const directory = join(folder, name);
    const text = `dlx-broker: ${directory} is not there. Nothing was read or written; check the path\n`;
    expect(await start('data', 'check', directory).ended).toMatchObject({ code: 2, errors: text });
  });

  it('refuses a directory that another process has, and has it when that one is dead', async () => {
    const directory = copied();
    const first = serve(directory);
    await first.ready;
    const second = await serve(directory).ended;
    expect(second.errors).toMatch(
      /^dlx-broker: the data directory .* is in use by process \d+; stop that process first/,
    );
    expect(second.errors.trim().split('\n')).toHaveLength(1);
    expect(second.code).toBe(2);
    const check = await start('data', 'check', directory).ended;
    expect(check).toMatchObject({ code: 2 });
    await kill(first);
    expect(addressIn(await serve(directory).ready)).toMatch(/^127/);
  });

  it.each<[string, (directory: string) => void, RegExp]>([
    [
      'garbled',
      (directory) => change(directory, (bytes) => void bytes.write('BODY', bytes.indexOf('body 1'))),
      /are not what was written/,
    ],
    ['gone but its name', (directory) => truncateSync(segment(directory), 0), /0000000001\.log/],
  ])('starts with a segment that is %s, says what is lost, and keeps a copy', async (_, spoil, text) => {
    const directory = copied();
    spoil(directory);
    const child = serve(directory);
    addressIn(await child.ready);
    child.process.kill('SIGTERM');
    const { code, errors } = await child.ended;
    expect(errors).toMatch(text);
    expect(code).toBe(0);
  });

  it('refuses what is to be kept once its directory has vanished, and lives', { timeout: 30_000 }, async () => {
    const directory = join(folder, 'vanishing');
    mkdirSync(directory);
    const child = serve(directory);
    const connection = await amqplib.connect(`amqp://${addressIn(await child.ready)}`);
    const channel = await connection.createConfirmChannel();
    await channel.assertQueue('work', { durable: true });
    await channel.assertQueue('passing', { durable: false });
    const confirm = (queue: string): Promise<string> =>
      new Promise((resolve) => {
        const settle = (error: unknown): void => resolve(error === null ? 'ack' : 'nack');
        channel.publish('', queue, Buffer.from('x'), { persistent: true }, settle);
      });
    expect(await confirm('work')).toBe('ack');
    rmSync(directory, { recursive: true });
    while ((await confirm('work')) !== 'nack') await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await confirm('passing')).toBe('ack');
    connection.on('error', () => undefined);
    child.process.kill('SIGTERM');
    const { code, errors } = await child.ended;
    const told = errors.split('\n').filter((line) => line.startsWith('error '));
    expect(told).toEqual([expect.stringMatching(/the data directory is gone\. All that was confirmed is safe/)]);
    expect(errors, 'no stack').not.toMatch(/^ +at /m);
    expect(code).toBe(1);
  });

  it('reports soon that it vanished while no client used it', { timeout: 30_000 }, async () => {
    const directory = join(folder, 'vanishing too');
    mkdirSync(directory);
    const child = serve(directory);
    await child.ready;
    rmSync(directory, { recursive: true });
    const line = await new Promise<string>((resolve) => {
      child.process.stderr?.on(
        'data',
        (bytes: Buffer) => /^error/m.test(bytes.toString()) && resolve(bytes.toString()),
      );
    });
    expect(line).toMatch(/the data directory is gone\. All that was confirmed is safe/);
  });
});
