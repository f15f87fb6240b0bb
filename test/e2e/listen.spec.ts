import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Injectable, type LoggerService, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Payload } from '@nestjs/microservices';
import { connect } from 'amqplib';
import { Consume, DeadLetter, DlxBroker, DlxBrokerModule, embedded } from 'dlx-broker';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { serve } from '../../libs/dlx-broker/src/server/serve/serve.js';

@Injectable()
class Orders {
  readonly seen: unknown[] = [];

  @Consume({ queue: 'orders', routingKey: 'order.created' })
  @DeadLetter('', 'orders.dead')
  create(@Payload() order: { id: number }): void {
    this.seen.push(order);
    if (order.id === 2) throw new Error('no second order');
  }
}

async function start(options: Parameters<typeof embedded>[0], logger: LoggerService | false = false) {
  @Module({ imports: [DlxBrokerModule.forRoot({ broker: embedded(options) })], providers: [Orders] })
  class App {}
  return NestFactory.createApplicationContext(App, { logger, abortOnError: false });
}

const folder = mkdtempSync(join(tmpdir(), 'listen-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Facts = Readonly<Record<string, unknown>>;

/** What the management API tells of its node. */
async function nodeAt(http: { readonly port: number } | undefined): Promise<Facts> {
  const headers = { authorization: `Basic ${btoa('guest:guest')}` };
  const [node] = (await (await fetch(`http://127.0.0.1:${http?.port}/api/nodes`, { headers })).json()) as Facts[];
  return node ?? {};
}

describe('an application that listens', () => {
  it('logs the URLs of the management API and of the console, unless that is turned off', async () => {
    const built = existsSync(resolve(import.meta.dirname, '../../libs/dlx-broker/dist/console.cjs'));
    for (const console of [undefined, false]) {
      const lines: string[] = [];
      const log = (line: unknown): void => void lines.push(String(line));
      const logger = { log, warn: log, error: log };
      const app = await start({ listen: { http: { port: 0, ...(console === false && { console }) } } }, logger);
      const { port } = app.get(DlxBroker).http ?? { port: 0 };
      await app.close();
      const place = 'behaves as RabbitMQ 4.3.6, in memory: nothing survives this process';
      const page = built && console !== false ? `, console at http://127.0.0.1:${port}/` : '';
      expect(lines).toContain(`${place}; management API at http://127.0.0.1:${port}/api${page}`);
    }
  });

  it('shares its queues with AMQP clients of other processes', async () => {
    const app = await start({ listen: { amqp: { port: 0 } } });
    const { host, port } = app.get(DlxBroker).amqp ?? { host: '', port: 0 };
    const connection = await connect(`amqp://guest:guest@${host}:${port}`);
    const channel = await connection.createConfirmChannel();
    await channel.assertQueue('orders.dead');
    for (const id of [1, 2]) {
      channel.publish('dlx.events', 'order.created', Buffer.from(JSON.stringify({ id })), {
        contentType: 'application/json',
      });
    }
    await channel.waitForConfirms();
    const dead = await new Promise<string>((resolve) => {
      void channel.consume('orders.dead', (message) => resolve(message?.content.toString() ?? ''), { noAck: true });
    });
    expect(JSON.parse(dead)).toEqual({ id: 2 });
    expect(app.get(Orders).seen).toEqual([{ id: 1 }, { id: 2 }]);
    const ended = new Promise((resolve) => connection.once('close', resolve));
    await app.close();
    await ended;
  });

  it('lets in the users of its options, and no others', async () => {
    const rights = { configure: '.*', write: '.*', read: '.*' };
    const users = [{ name: 'shop', password: 'secret', permissions: { '/': rights } }];
    const app = await start({ listen: { amqp: { port: 0 }, users } });
    const { host, port } = app.get(DlxBroker).amqp ?? { host: '', port: 0 };
    await expect(connect(`amqp://guest:guest@${host}:${port}`)).rejects.toThrow('403');
    const connection = await connect(`amqp://shop:secret@${host}:${port}`);
    await connection.close();
    await app.close();
  });

  it('may be one of the users that it lets in', async () => {
    const users = [
      { name: 'shop', password: 'secret', permissions: { '/': { configure: '.*', write: '', read: '.*' } } },
    ];
    const options = { user: 'shop', listen: { amqp: { port: 0 }, users } };
    await expect(start(options)).rejects.toThrow(/access to .* refused for user 'shop'/); // it binds its queue
    const rights = { configure: '.*', write: '.*', read: '.*' };
    const app = await start({
      ...options,
      listen: { ...options.listen, users: [{ ...users[0]!, permissions: { '/': rights } }] },
    });
    const { port } = app.get(DlxBroker).amqp ?? { port: 0 };
    await (await connect(`amqp://shop:secret@127.0.0.1:${port}`)).close();
    await app.close();
  });

  it('has a management API, without a port for AMQP if that is all that is wanted', async () => {
    const app = await start({ listen: { http: { port: 0 } } });
    const broker = app.get(DlxBroker);
    expect(broker.amqp).toBeUndefined();
    const { host, port } = broker.http ?? { host: '', port: 0 };
    const ask = (login: string) =>
      fetch(`http://${host}:${port}/api/vhosts`, { headers: { authorization: `Basic ${btoa(login)}` } });
    expect((await ask('guest:wrong')).status).toBe(401);
    expect(await (await ask('guest:guest')).json()).toMatchObject([{ name: '/' }]);
    await app.close();
    await expect(ask('guest:guest')).rejects.toThrow('fetch failed');
  });

  it('counts guesses at one port with those at the other', async () => {
    const app = await start({ listen: { amqp: { port: 0 }, http: { port: 0 } } });
    const { amqp, http } = app.get(DlxBroker);
    const headers = { authorization: `Basic ${btoa('guest:wrong')}` };
    const answered: string[] = [];
    const guess = async (): Promise<void> => {
      await fetch(`http://127.0.0.1:${http?.port}/api/whoami`, { headers });
      answered.push('guess');
    };
    const guesses = Array.from({ length: 7 }, guess);
    await vi.waitFor(() => expect(answered).toHaveLength(5), { interval: 1, timeout: 8_000 });
    // A right password gets in, but not before its turn: the sixth guess and the seventh wait as well.
    const connection = await connect(`amqp://guest:guest@127.0.0.1:${amqp?.port}`);
    expect(answered.length).toBeGreaterThan(5);
    await connection.close();
    await Promise.all(guesses);
    await app.close();
  });

  it('says which port is taken, and by which option it was asked for', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await expect(start({ listen: { amqp: { port } } })).rejects.toThrow(
      `option 'listen.amqp' of embedded(): port ${port} of 127.0.0.1 is taken`,
    );
    await expect(start({ listen: { http: { port } } })).rejects.toThrow(
      `option 'listen.http' of embedded(): port ${port} of 127.0.0.1 is taken`,
    );
    server.close();
  });

  it.each([
    ['with room on its disk', 1_000, false],
    ['on a disk too small for its limit', Number.MAX_SAFE_INTEGER, true],
  ])('tells of its node what serve does, %s', async (name, limit, isLow) => {
    const [own, other] = [join(folder, `own ${name}`), join(folder, `other ${name}`)];
    const ports = { amqp: { host: '127.0.0.1', port: 0 }, http: { port: 0 } };
    const served = await serve({ ...ports, data: { directory: other, diskFree: limit } });
    const app = await start({ dataDir: own, diskFreeLimit: limit, listen: ports });
    const [theirs, ours] = [await nodeAt(served.http), await nodeAt(app.get(DlxBroker).http)];
    expect(ours).toMatchObject({ db_dir: own, disk_free_limit: limit, disk_free_alarm: isLow });
    expect(ours['disk_free']).toBeGreaterThan(0);
    expect(Object.keys(ours).sort()).toEqual(Object.keys(theirs).sort());
    const numbers = Object.keys(theirs).filter((key) => `${key}_details` in theirs);
    const ofItsOwn = [
      'db_dir',
      'uptime',
      'contexts',
      'mem_limit',
      ...numbers,
      ...numbers.map((key) => `${key}_details`),
    ];
    const shared = (facts: Facts) => Object.entries(facts).filter(([key]) => !ofItsOwn.includes(key));
    expect(shared(ours)).toEqual(shared(theirs));
    expect(shared(ours).length).toBeGreaterThan(24);
    // It follows what is used beside the heap at that moment.
    expect(Number(ours['mem_limit']) / Number(theirs['mem_limit'])).toBeCloseTo(1, 1);
    await Promise.all([served.close(), app.close()]);
  });

  it('shows a short disk also where only the management API has a port, and has a limit of 50 MiB by default', async () => {
    const low = await start({
      dataDir: join(folder, 'low'),
      diskFreeLimit: Number.MAX_SAFE_INTEGER,
      listen: { http: { port: 0 } },
    });
    expect(await nodeAt(low.get(DlxBroker).http)).toMatchObject({ disk_free_alarm: true });
    await low.close();
    const usual = await start({ dataDir: join(folder, 'usual'), listen: { http: { port: 0 } } });
    expect(await nodeAt(usual.get(DlxBroker).http)).toMatchObject({ disk_free_limit: 50 * 1024 * 1024 });
    await usual.close();
  });

  it('records what operators do, if an option names the file', async () => {
    const audit = join(folder, 'audit.ndjson');
    const app = await start({ listen: { http: { port: 0 }, audit } });
    const headers = { authorization: `Basic ${btoa('guest:guest')}` };
    const path = `http://127.0.0.1:${app.get(DlxBroker).http?.port}/api/vhosts/shop`;
    expect((await fetch(path, { method: 'PUT', headers })).status).toBe(201);
    await app.close();
    const line = JSON.parse(await readFile(audit, 'utf8')) as Facts;
    expect(line).toMatchObject({ user: 'guest', action: 'PUT /api/vhosts/:vhost', status: 201 });
    await expect(start({ listen: { http: { port: 0 }, audit: join(folder, 'nowhere', 'audit') } })).rejects.toThrow(
      `option 'listen.audit' of embedded(): the audit log cannot be kept in ${join(folder, 'nowhere', 'audit')}: the directory ${join(folder, 'nowhere')} is not there`,
    );
    await expect(start({ listen: { amqp: { port: 0 }, audit } as never })).rejects.toThrow(
      "is about the port of option 'listen.http'",
    );
  });

  it('lets go of its data directory when it cannot be made', async () => {
    const dataDir = join(folder, 'again');
    const rights = { configure: '(', write: '', read: '' };
    const users = [{ name: 'shop', password: 'secret', permissions: { '/': rights } }];
    await expect(start({ dataDir, listen: { users } })).rejects.toThrow();
    await (await start({ dataDir })).close();
  });
});
