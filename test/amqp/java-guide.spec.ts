import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import amqplib from 'amqplib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AmqpHouse, amqpHouse, until } from './harness.js';
import { present } from './present.js';

const run = promisify(execFile);
const sources = join(import.meta.dirname, 'java/guide');
const jar = '/usr/share/java/amqp-client.jar';
const classes = mkdtempSync(join(tmpdir(), 'java-guide-'));
const path = [classes, jar, '/usr/share/java/slf4j-api.jar'].join(':');
const hasJava = await present('the Java client', async () => existsSync(jar) && (await run('javac', ['-version'])));

let harness: AmqpHouse;
beforeAll(async () => void (harness = await amqpHouse()));
afterAll(() => harness.close());
afterAll(() => rmSync(classes, { recursive: true, force: true }));

const running: ChildProcess[] = [];
afterAll(() => running.forEach((child) => child.kill('SIGKILL')));

/** A program of the guide that runs, and what it has said. */
class Program {
  said = '';
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;

  constructor(name: string, url: string) {
    const port = Number(new URL(url).port) || 5672;
    this.#child = spawn('java', [`-Damqp.port=${port}`, '-cp', path, name], { stdio: ['pipe', 'pipe', 'ignore'] });
    running.push(this.#child);
    this.#child.stdout?.on('data', (bytes: Buffer) => (this.said += bytes.toString()));
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve));
  }

  get lines(): string[] {
    return this.said.split('\n').slice(0, -1);
  }

  type(...lines: readonly string[]): void {
    for (const line of lines) this.#child.stdin?.write(`${line}\n`);
  }

  /** @returns its exit code */
  ended(): Promise<number | null> {
    return this.#ended;
  }

  stop(): Promise<number | null> {
    this.#child.kill();
    return this.#ended;
  }
}

interface Demo {
  readonly producer: string;
  readonly consumers: readonly (readonly [name: string, queue: string, lines: number])[];
  readonly typed: readonly string[];
  /** Queues and exchanges it declares. */
  readonly queues: readonly string[];
  readonly exchanges: readonly string[];
}

/** Runs a demo as the guide has it: producer first, then the consumers, then lines are typed. @returns all that was seen */
async function show({ producer, consumers, typed, queues, exchanges }: Demo, url: string): Promise<unknown> {
  const connection = await amqplib.connect(url);
  try {
    const typing = new Program(producer, url);
    await until(() => typing.said === '> ');
    const listening: Program[] = [];
    for (const [name, queue] of consumers) {
      listening.push(new Program(name, url));
      while ((await consumersOf(connection, queue)) === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const begun = performance.now();
    typing.type(...typed, 'q');
    const code = await typing.ended();
    const wanted = consumers.map(([, , lines]) => lines);
    await until(() => listening.every(({ lines }, index) => lines.length >= (wanted[index] ?? 0)));
    const took = performance.now() - begun;
    for (const program of listening) await program.stop();
    const channel = await connection.createChannel();
    const left: Record<string, number> = {};
    for (const queue of queues) left[queue] = (await channel.deleteQueue(queue)).messageCount;
    for (const exchange of exchanges) await channel.deleteExchange(exchange);
    return { code, typing: typing.said, heard: listening.map(({ lines }) => lines), left, waited: took >= 5_000 };
  } finally {
    await connection.close();
  }
}

/** A channel that asks for a missing queue is closed: each question has its own. */
async function consumersOf(connection: amqplib.ChannelModel, queue: string): Promise<number> {
  const channel = await connection.createChannel();
  channel.on('error', () => undefined);
  try {
    const { consumerCount } = await channel.checkQueue(queue);
    await channel.close();
    return consumerCount;
  } catch {
    return 0;
  }
}

/** The same on a real broker if there is one, at the same time: both must show the same. */
async function shownEverywhere(demo: Demo): Promise<unknown> {
  const real = process.env['AMQP_URL'];
  const [ours, theirs] = await Promise.all([
    show(demo, harness.url),
    real === undefined ? undefined : show(demo, real),
  ]);
  if (real !== undefined) expect(ours).toEqual(theirs);
  return ours;
}

const limited = (prefix: string): Pick<Demo, 'queues' | 'exchanges'> => ({
  queues: [`${prefix}.queue.test`, `${prefix}.dl.queue.test`],
  exchanges: [`${prefix}.exchange.test`, `${prefix}.dl.exchange.test`],
});

describe.skipIf(!hasJava)("the guide's Java programs, with lines typed until one is q", () => {
  beforeAll(async () => {
    const files = readdirSync(sources).map((file) => join(sources, file));
    await run('javac', ['-cp', jar, '-d', classes, ...files]);
  }, 60_000);

  it('a message that is rejected goes to the dead-letter queue', async () => {
    const seen = await shownEverywhere({
      producer: 'DLProducer',
      consumers: [
        ['NormalConsumer', 'normal.queue.test', 3],
        ['DLConsumer', 'dl.queue.test', 3],
      ],
      typed: ['one', 'zwei', 'drei vier'],
      queues: ['normal.queue.test', 'dl.queue.test'],
      exchanges: ['normal.exchange.test', 'dl.exchange.test'],
    });
    const bodies = ['one', 'zwei', 'drei vier'];
    expect(seen).toMatchObject({
      code: 0,
      typing: '> > > > ',
      heard: [bodies.map((body) => `reject ${body}`), bodies.map((body) => `dead ${body}`)],
      left: { 'normal.queue.test': 0, 'dl.queue.test': 0 },
    });
  }, 90_000);

  it('a message that no consumer takes for five seconds goes to the dead-letter queue', async () => {
    const seen = await shownEverywhere({
      producer: 'MessageTTLProducer',
      consumers: [['MessageTTLConsumer', 'msg.ttl.dl.queue.test', 2]],
      typed: ['one', 'two'],
      ...limited('msg.ttl'),
    });
    expect(seen).toEqual({
      code: 0,
      typing: '> > > ',
      heard: [['dead one', 'dead two']],
      left: { 'msg.ttl.queue.test': 0, 'msg.ttl.dl.queue.test': 0 },
      waited: true,
    });
  }, 90_000);

  it('the oldest of eight messages go to the dead-letter queue when there is room for five', async () => {
    const seen = await shownEverywhere({
      producer: 'QueueLengthLimitProducer',
      consumers: [['QueueLengthLimitConsumer', 'length.limit.dl.queue.test', 3]],
      typed: ['1', '2', '3', '4', '5', '6', '7', '8'],
      ...limited('length.limit'),
    });
    expect(seen).toMatchObject({
      code: 0,
      heard: [['dead 1', 'dead 2', 'dead 3']],
      left: { 'length.limit.queue.test': 5, 'length.limit.dl.queue.test': 0 },
    });
  }, 90_000);
});
