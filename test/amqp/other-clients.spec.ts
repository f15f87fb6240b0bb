import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AmqpHouse, amqpHouse } from './harness.js';
import { present } from './present.js';

const run = promisify(execFile);
const here = import.meta.dirname;
const python = '/usr/bin/python3';
const jar = '/usr/share/java/amqp-client.jar';
const slf4j = '/usr/share/java/slf4j-api.jar';
const seconds = 60_000;
const source = (name: string): string => join(here, 'java', `${name}.java`);

let harness: AmqpHouse;
beforeAll(async () => void (harness = await amqpHouse()));
afterAll(() => harness.close());

/** The same program on this broker, and on a real one if there is one: both must say the same. */
async function saidEverywhere(program: (url: string) => Promise<string>): Promise<string[]> {
  const ours = await program(harness.url);
  const real = process.env['AMQP_URL'];
  if (real !== undefined) expect(ours).toBe(await program(real));
  return ours.trim().split('\n');
}

const hasPika = await present('python3-pika', () => run(python, ['-c', 'import pika']));
const hasTools = await present('amqp-tools', () => run('amqp-publish', ['--help']));
const hasJava = await present('the Java client', async () => existsSync(jar) && (await run('javac', ['-version'])));

describe.skipIf(!hasPika)('pika', () => {
  it(
    'rejects a message and finds its dead letter as it was sent',
    async () => {
      const program = join(here, 'python', 'dead_letter.py');
      const lines = await saidEverywhere(async (url) => (await run(python, [program, url])).stdout);
      expect(lines).toEqual([
        'unroutable 312 NO_ROUTE',
        'rejected one',
        'dead one pika-dlx dead m1 None',
        'same True',
        "death rejected pika-work 1 50000 ['pika-work']",
        "closed 404 NOT_FOUND - no queue 'pika-missing' in vhost '/'",
      ]);
    },
    seconds,
  );
});

describe.skipIf(!hasTools)('amqp-tools', () => {
  it(
    'declares, publishes, gets, consumes and deletes',
    async () => {
      const lines = await saidEverywhere(async (url) => {
        const call = async (tool: string, ...args: string[]) => (await run(tool, ['-u', url, ...args])).stdout.trim();
        const queue = await call('amqp-declare-queue', '-q', 'tools');
        await call('amqp-publish', '-r', 'tools', '-b', 'one');
        await call('amqp-publish', '-r', 'tools', '-b', 'two');
        const got = await call('amqp-get', '-q', 'tools');
        const consumed = await call('amqp-consume', '-q', 'tools', '-c', '1', 'cat');
        const deleted = await call('amqp-delete-queue', '-q', 'tools');
        return [queue, got, consumed, deleted].join('\n');
      });
      expect(lines).toEqual(['tools', 'one', 'two', '0']);
    },
    seconds,
  );
});

describe.skipIf(!hasJava)('the Java client', () => {
  const classes = mkdtempSync(join(tmpdir(), 'java-clients-'));
  const path = [classes, jar, slf4j].join(':');
  const program = (name: string) => async (url: string) => (await run('java', ['-cp', path, name, url])).stdout;
  beforeAll(() => run('javac', ['-cp', jar, '-d', classes, ...['Rejections', 'Limits'].map(source)]), seconds);
  afterAll(() => rmSync(classes, { recursive: true, force: true }));

  it(
    'hears of rejected messages through a topic exchange',
    async () => {
      expect(await saidEverywhere(program('Rejections'))).toEqual(
        ['one', 'two', 'three'].map((body) => `dead ${body} dl.routing.key rejected java.normal.queue 1`),
      );
    },
    seconds,
  );

  it(
    'hears of expired messages, and of those that were too many',
    async () => {
      expect(await saidEverywhere(program('Limits'))).toEqual([
        ...['1', '2'].map((body) => `java.ttl ${body} expired java.ttl.exchange [the.routing.key]`),
        'java.ttl left 0',
        ...['1', '2', '3'].map((body) => `java.length ${body} maxlen java.length.exchange [the.routing.key]`),
        'java.length left 5',
      ]);
    },
    seconds,
  );
});
