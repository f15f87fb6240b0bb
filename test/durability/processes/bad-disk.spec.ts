import { mkdtempSync, rmSync, statSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import amqplib from 'amqplib';
import { afterEach, describe, expect, it } from 'vitest';
import { addressIn, type Child, command, isBuilt, kill, start, startAs } from '../served.js';

/** Beside `serve` itself: what makes its disk fail while the file says so. */
const preload = join(import.meta.dirname, '../failing-fs.mjs');
const admin = { authorization: `Basic ${Buffer.from('guest:guest').toString('base64')}` };

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function place(): { readonly data: string; fail(words: string): void; serve(...more: string[]): Child } {
  const directory = mkdtempSync(join(tmpdir(), 'bad-disk-'));
  const faults = join(directory, 'faults');
  ends.push(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(faults, '');
  const data = join(directory, 'data');
  return {
    data,
    fail: (words) => writeFileSync(faults, words),
    serve: (...more) => {
      const env = { ...process.env, FAULTS: faults, NODE_OPTIONS: `--import ${preload}` };
      const args = ['serve', '--amqp', '127.0.0.1:0', '--http', '127.0.0.1:0', '--data', data, ...more];
      const child = startAs({ env }, command, ...args);
      ends.push(() => kill(child));
      return child;
    },
  };
}

async function connect(line: string) {
  const connection = await amqplib.connect(`amqp://${addressIn(line)}`);
  connection.on('error', () => undefined);
  ends.push(() => connection.close().catch(() => undefined));
  return connection;
}

const api = (line: string) => {
  const base = `http://${/http=(\S+)/.exec(line)?.[1]}/api`;
  return async (path: string, body?: object) => {
    const sent = body && { method: 'POST', body: JSON.stringify(body) };
    const reply = await fetch(`${base}${path}`, { headers: admin, ...sent });
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
  };
};

async function publish(line: string, queue: string, count: number): Promise<void> {
  const channel = await (await connect(line)).createConfirmChannel();
  await channel.assertQueue(queue, { durable: true });
  for (let index = 0; index < count; index++)
    channel.publish('', queue, Buffer.alloc(1_000, index % 251), { persistent: true, messageId: String(index) });
  await channel.waitForConfirms();
}

async function stop({ process: child, ended }: Child): Promise<number | null> {
  child.kill('SIGTERM');
  return (await ended).code;
}

const checks = ['/health/checks/alarms', '/health/checks/local-alarms', '/healthchecks/node', '/aliveness-test/%2F'];

describe.skipIf(!isBuilt && process.env['CI'] === undefined)('dlx-broker serve on a disk that fails', () => {
  it('loses none of 2,000 messages to reads that fail for 1.5 s', { timeout: 60_000 }, async () => {
    const { fail, serve, data } = place();
    let server = serve('--message-memory', '100kB');
    let line = await server.ready;
    await publish(line, 'work', 2_000);
    await publish(line, 'other', 2);
    fail('read');
    const channel = await (await connect(line)).createChannel();
    let delivered = 0;
    await channel.prefetch(50);
    await channel.consume('work', () => delivered++);
    const call = api(line);
    await wait(700);
    expect(delivered).toBe(0);
    for (const check of checks) {
      const { status, body } = await call(check);
      expect([check, status, body['reason']]).toEqual([
        check,
        503,
        expect.stringMatching(/1 queue stands still: .*EIO/),
      ]);
    }
    expect((await call('/health/checks/virtual-hosts')).status).toBe(200);
    expect((await call('/nodes')).body).toMatchObject([
      { disk_free_alarm: true, dlx_faults: [{ name: 'storage_unreadable', queues: [{ vhost: '/', name: 'work' }] }] },
    ]);
    expect((await call('/queues/%2F/work')).body).toMatchObject({
      messages: 2_000,
      dlx_stalled: { failures: expect.any(Number) },
    });
    const get = { count: 1, ackmode: 'ack_requeue_false', encoding: 'auto' };
    expect(await call('/queues/%2F/work/get', get)).toMatchObject({
      status: 503,
      body: { reason: expect.stringMatching(/541 INTERNAL_ERROR - Cannot get a message from queue 'work'.*EIO/) },
    });
    expect(await call('/queues/%2F/other/get', get), 'others go on').toMatchObject({ status: 200 });
    const page = await call('/dlx/queues/%2F/work/messages?page_size=1');
    expect(page.body['items']).toMatchObject([{ payload: null, payload_error: { kind: 'unreadable' } }]);
    const searched = await call('/dlx/queues/%2F/work/messages?text=x');
    expect(searched.body).toMatchObject({ unreadable: { reason: expect.stringMatching(/EIO/) } });
    const other = await (await connect(line)).createChannel();
    const closed = new Promise((resolve) => other.on('error', resolve));
    other.get('work', { noAck: true }).catch(() => undefined);
    expect(await closed).toMatchObject({ code: 541 });
    await wait(800);
    fail('');
    while (delivered < 50) await wait(20);
    for (const check of checks) expect([check, (await call(check)).status]).toEqual([check, 200]);
    expect(await stop(server)).toBe(0);
    const { errors } = await server.ended;
    expect(errors.match(/^error queue 'work' in vhost '\/' stands still: .*EIO/gm)).toHaveLength(1);
    expect(errors.match(/^info All queues go on/gm)).toHaveLength(1);
    const checked = start('data', 'check', data);
    expect(await checked.ended).toMatchObject({
      code: 0,
      output: expect.stringContaining("'work' in vhost '/': 2000 messages"),
    });
    server = serve('--message-memory', '100kB');
    line = await server.ready;
    expect((await (await (await connect(line)).createChannel()).checkQueue('work')).messageCount).toBe(2_000);
    expect(await stop(server)).toBe(0);
  });

  it('fails its health checks when it cannot write, and names the reason', { timeout: 30_000 }, async () => {
    const { fail, serve } = place();
    const server = serve();
    const line = await server.ready;
    await publish(line, 'work', 1);
    const call = api(line);
    for (const check of checks) expect([check, (await call(check)).status]).toEqual([check, 200]);
    fail('write');
    await expect(publish(line, 'work', 3)).rejects.toThrow();
    for (const check of [...checks, '/health/checks/virtual-hosts']) {
      const { status, body } = await call(check);
      expect([check, status, body['reason']]).toEqual([check, 503, expect.stringMatching(/EIO.*cannot be written/)]);
    }
    const { body } = await call('/nodes');
    expect(body).toMatchObject([{ disk_free_alarm: true, dlx_faults: [{ name: 'storage_failed' }] }]);
    const { port } = new URL(`http://${/http=(\S+)/.exec(line)?.[1]}`);
    const status = start('ctl', 'status', '--url', `http://127.0.0.1:${port}`);
    expect((await status.ended).output).toMatch(/Alarm: storage: .*EIO/);
    expect(await stop(server)).toBe(1);
    expect((await server.ended).errors.match(/EIO/g)).toHaveLength(1);
  });

  it('keeps its lock from other users while it runs', async () => {
    const { data, serve } = place();
    await serve().ready;
    const modes = readdirSync(data).map((name) => [name, statSync(join(data, name)).mode & 0o777] as const);
    expect(modes.some(([name]) => name.endsWith('.lock'))).toBe(true);
    for (const [name, mode] of modes) expect([name, mode]).toEqual([name, 0o600]);
  });
});
