import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import amqplib from 'amqplib';
import { afterAll, afterEach, describe, expect, it } from 'vitest';

const library = resolve(import.meta.dirname, '../../libs/dlx-broker');
const command = join(library, 'bin/dlx-broker.js');
const isBuilt = existsSync(join(library, 'dist/cli/main.js'));
if (!isBuilt && process.env['CI'] === undefined) console.warn('SKIPPED: dlx-broker serve: the library is not built');

const folder = mkdtempSync(join(tmpdir(), 'serve-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Run {
  readonly process: ChildProcess;
  /** What it says until it is ready or ends. */
  readonly ready: Promise<string>;
  readonly ended: Promise<{ readonly code: number | null; readonly errors: string }>;
}

const runs: Run[] = [];
afterEach(() => runs.splice(0).forEach((run) => run.process.kill('SIGKILL')));

function serve(...args: string[]): Run {
  const child = spawn(process.execPath, [command, 'serve', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  child.stderr.on('data', (bytes: Buffer) => (errors += bytes.toString()));
  const ended = new Promise<{ code: number | null; errors: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, errors })),
  );
  const ready = new Promise<string>((resolve) => {
    child.stdout.on('data', (bytes: Buffer) => {
      output += bytes.toString();
      if (output.includes('\n')) resolve(output);
    });
    child.once('close', () => resolve(output));
  });
  const run = { process: child, ready, ended };
  runs.push(run);
  return run;
}

function config(text: string): string {
  const file = join(folder, `config-${Math.floor(performance.now() * 1000)}.yaml`);
  writeFileSync(file, text);
  return file;
}

describe.skipIf(!isBuilt && process.env['CI'] === undefined)('dlx-broker serve', () => {
  it('says where it listens in one line, serves, and informs its clients when it is stopped', async () => {
    const run = serve('--amqp', '127.0.0.1:0');
    const line = await run.ready;
    expect(line).toMatch(/^dlx-broker ready amqp=127\.0\.0\.1:[0-9]+\n$/);
    const page = readFileSync(resolve(library, '../../docs/guide/serving.md'), 'utf8');
    expect(page).toContain(line.replace(/:[0-9]+\n/, ':5672\n'));
    const connection = await amqplib.connect(`amqp://${line.trim().split('=')[1]}`);
    const closed = new Promise<Error>((resolve) => connection.on('close', resolve));
    run.process.kill('SIGTERM');
    expect((await closed).message).toContain('320');
    expect((await run.ended).code).toBe(0);
  });

  it('carries the first message of a client that starts with it', async () => {
    const begun = performance.now();
    const [, address] = (await serve('--amqp', '127.0.0.1:0').ready).trim().split('=');
    const ready = performance.now() - begun;
    const connection = await amqplib.connect(`amqp://${address}`);
    const channel = await connection.createChannel();
    const { queue } = await channel.assertQueue('', { exclusive: true });
    const arrived = new Promise((resolve) => void channel.consume(queue, resolve, { noAck: true }));
    channel.sendToQueue(queue, Buffer.from('first'));
    expect(String(((await arrived) as amqplib.ConsumeMessage).content)).toBe('first');
    const first = performance.now() - begun;
    // The time is printed and not checked, because it depends on the load of the machine.
    console.info(`serve: ready after ${ready.toFixed(0)} ms, the first message through after ${first.toFixed(0)} ms`);
    await connection.close();
  });

  it('takes users, virtual hosts and the version from a file', async () => {
    const rights = '{ configure: ".*", write: ".*", read: ".*" }';
    const users = `users:\n  - { name: ada, password: secret, permissions: { /orders: ${rights} } }\n`;
    const file = config(`amqp: 127.0.0.1:0\nrabbitmq: '4'\nlogLevel: error\nvirtualHosts: [/orders]\n${users}`);
    const [, address] = (await serve('--config', file).ready).trim().split('=');
    const connection = await amqplib.connect(`amqp://ada:secret@${address}/%2Forders`);
    const properties = (connection as unknown as { connection: { serverProperties: { version: string } } }).connection;
    expect(properties.serverProperties.version).toMatch(/^4\./);
    await connection.close();
    await expect(amqplib.connect(`amqp://guest:guest@${address}`)).rejects.toThrow('ACCESS_REFUSED');
  });

  it.each<[string, string[], string]>([
    [
      'a bad address',
      ['--amqp', 'nowhere'],
      "--amqp must be HOST:PORT, such as 127.0.0.1:5672 or [::1]:5672, but is 'nowhere'",
    ],
    [
      'a consumer timeout that is no time',
      ['--consumer-timeout', 'soon'],
      "--consumer-timeout must be milliseconds, a time such as 30m, or none, but is 'soon'",
    ],
    [
      'a consumer timeout that is too short',
      ['--consumer-timeout', '10ms'],
      "--consumer-timeout must be 1000 ms or more, or none, but is '10ms'",
    ],
    [
      'a consumer timeout in milliseconds that is meant in seconds',
      ['--consumer-timeout', '30'],
      "--consumer-timeout must be 1000 ms or more, or none, but is '30'; a number without a unit is in milliseconds: write 30s or 30m",
    ],
    [
      'a retry of dead letters that is too soon',
      ['--dead-letter-retry-after', '5'],
      "--dead-letter-retry-after must be 1000 ms or more, but is '5'",
    ],
    ['an unknown version', ['--rabbitmq', '5'], "--rabbitmq must be one of 3.10, 4, but is '5'"],
    ['an unknown level', ['--log-level', 'loud'], "--log-level must be one of error, warn, info, debug, but is 'loud'"],
    ['half of TLS', ['--tls-cert', 'cert.pem'], 'TLS needs both --tls-cert and --tls-key'],
    [
      'an authority that is none',
      ['--tls-cert', 'package.json', '--tls-key', 'package.json', '--tls-ca', 'package.json'],
      '--tls-ca package.json is no certificate in PEM',
    ],
    ['half of a store', ['--durability', 'os'], '--durability is about the directory of --data, which is not given'],
    [
      'a size without sense',
      ['--data', folder, '--message-memory', 'much'],
      "--message-memory must be a number of bytes such as 64MiB or 500MB, but is 'much'",
    ],
    [
      'an unknown durability',
      ['--data', folder, '--durability', 'sync'],
      "--durability must be one of fsync, os, none, but is 'sync'; did you mean 'fsync'?",
    ],
    [
      'a bad address of the management API',
      ['--http', ':15672'],
      "--http must be HOST:PORT, such as 127.0.0.1:5672 or [::1]:5672, but is ':15672'",
    ],
    ['names of no port', ['--http-hosts', 'broker'], '--http-hosts is about the port of --http'],
    ['no console of no port', ['--no-console'], '--no-console is about the port of --http'],
    [
      'a name without a letter',
      ['--http', '127.0.0.1:0', '--http-hosts', 'broker, '],
      "--http-hosts must be names with commas between them, but one of 'broker,' is empty",
    ],
    ['books without a name', ['--http', '127.0.0.1:0', '--audit', ''], '--audit must name a file'],
    [
      'books in a directory that is not there',
      ['--amqp', '127.0.0.1:0', '--http', '127.0.0.1:0', '--audit', join(folder, 'nowhere', 'audit')],
      `the audit log cannot be kept in ${join(folder, 'nowhere', 'audit')}: the directory ${join(folder, 'nowhere')} is not there`,
    ],
  ])('refuses %s with one line and exit code 2', async (_, args, line) => {
    expect(await serve(...args).ended).toEqual({ code: 2, errors: `dlx-broker: ${line}\n` });
  });

  it.each<[string, string, string]>([
    ['an unknown key', 'amqq: 1', ": unknown key 'amqq' (known: "],
    [
      'a number where a string belongs',
      'rabbitmq: 3.10',
      ": rabbitmq must be a string such as '3.10' or '4', in quotes, but is 3.1",
    ],
    ['a user without a password', 'users: [{ name: ada }]', ': users[0]: password is missing'],
    ['a broken file', 'users: [', ' is neither JSON nor YAML: '],
    [
      'a name of this machine that is empty',
      'http: 127.0.0.1:0\nhttpHosts: [broker, ""]',
      "but one of 'broker,' is empty",
    ],
    [
      'permissions where nothing is',
      'amqp: 127.0.0.1:0\nvirtualHosts: [/a]\nusers: [{ name: ada, password: s, permissions: { /b: { configure: "", write: "", read: "" } } }]',
      "user 'ada' has permissions in the virtual host '/b', which is not there; add it to virtualHosts",
    ],
    ['__proto__', '{ "__proto__": {} }', ": unknown key '__proto__'"],
  ])('refuses %s in the file, and says where', async (_, text, part) => {
    const { code, errors } = await serve('--config', config(text)).ended;
    expect(code).toBe(2);
    expect(errors).toContain(part);
    expect(errors.trim().split('\n')).toHaveLength(1);
  });

  it('says at the start that its disk has less room than it shall leave free, and refuses publishes', async () => {
    const run = serve('--amqp', '127.0.0.1:0', '--data', join(folder, 'small'), '--disk-free-limit', '9000TB');
    const [, address] = (await run.ready).trim().split('=');
    const connection = await amqplib.connect(`amqp://${address}`);
    const channel = await connection.createConfirmChannel();
    await channel.assertQueue('work');
    channel.sendToQueue('work', Buffer.from('kept'), { persistent: true });
    const blocked = new Promise((resolve) => connection.once('blocked', resolve));
    expect(await blocked).toBe('low on disk');
    run.process.kill('SIGTERM');
    const { errors } = await run.ended;
    expect(errors).toMatch(
      /info Free disk space is insufficient for \S+small: persistent messages are refused until there is more\. Free bytes: \d+\. Limit: 9000000000000000\n/,
    );
  });

  it('says at the start that publishers wait, where the memory limit is below what the process uses', async () => {
    const run = serve('--amqp', '127.0.0.1:0', '--memory-limit', '600');
    await run.ready;
    run.process.kill('SIGTERM');
    const { errors } = await run.ended;
    expect(errors).toMatch(
      /^info Warning: memory is short: publishers wait from the first message\. .* Limit: 600 bytes$/m,
    );
  });

  it('refuses a port that is taken', async () => {
    const [, address] = (await serve('--amqp', '127.0.0.1:0').ready).trim().split('=');
    const taken = `dlx-broker: the port ${address} of --amqp is taken: name another one, or 0 for any that is free\n`;
    expect(await serve('--amqp', address as string).ended).toEqual({ code: 2, errors: taken });
  });
});
