import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DlxBroker, DlxBrokerModule, getDlxBrokerToken, rabbitmq } from '../../libs/dlx-broker/src/index.js';
import { managementUrl } from '../rabbitmq.js';
import { realServerIsMissing, realVhost } from './real-vhost.js';

type Body = Record<string, unknown>;

const unavailable = await realServerIsMissing();
if (unavailable !== undefined) console.warn(`SKIPPED: the console of an application on RabbitMQ: ${unavailable}`);

describe.skipIf(unavailable !== undefined)('the console of an application on RabbitMQ', () => {
  let world: Awaited<ReturnType<typeof realVhost>>;
  let close: () => Promise<void>;
  let base: string;
  const clerk = `clerk-${process.pid}-${Date.now().toString(36)}`;

  const declare = (name: string, args: object = {}): Promise<unknown> =>
    world.management.call('PUT', `/queues/${world.vhost}/${name}`, { durable: true, arguments: args });
  const publish = async (name: string, count: number): Promise<void> => {
    for (let sent = 0; sent < count; sent++) {
      const message = { properties: {}, routing_key: name, payload: String(sent), payload_encoding: 'string' };
      await world.management.call('POST', `/exchanges/${world.vhost}/amq.default/publish`, message);
    }
  };
  const ask = async (method: string, path: string, body?: object, user = world.user, password = world.password) => {
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as Body };
  };
  /** The messages of a queue now. The numbers of the management API are some seconds old. */
  const inQueue = async (name: string): Promise<number> => {
    const asked = { count: 100, ackmode: 'ack_requeue_true', encoding: 'auto' };
    return ((await world.management.call('POST', `/queues/${world.vhost}/${name}/get`, asked)) as unknown[]).length;
  };
  /** Waits until the server has counted the messages, which it does every five seconds. */
  const seen = async (counts: Readonly<Record<string, number>>): Promise<void> => {
    for (const [name, count] of Object.entries(counts)) {
      const path = `/queues/${world.vhost}/${name}`;
      const ready = async () => ((await world.management.call('GET', path)) as Body)['messages_ready'];
      await vi.waitFor(async () => expect(await ready()).toBe(count), { timeout: 20_000, interval: 250 });
    }
  };
  const ended = async (id: unknown, user?: string, password?: string): Promise<Body> => {
    let task: Body = {};
    await expect
      .poll(
        async () =>
          (task = (await ask('GET', `/dlx/redrives/${String(id)}`, undefined, user, password)).body)['ended_at'],
        { timeout: 20_000 },
      )
      .not.toBeNull();
    return task;
  };

  beforeAll(async () => {
    world = await realVhost();
    const broker = rabbitmq({
      urls: world.url,
      management: managementUrl,
      listen: { http: { port: 0 } },
      connectTimeout: '5s',
    });
    class App {}
    Module({ imports: [DlxBrokerModule.forRoot({ broker })] })(App);
    const app = await NestFactory.createApplicationContext(App, { logger: false });
    close = () => app.close();
    await app.init();
    base = `http://127.0.0.1:${app.get<DlxBroker>(getDlxBrokerToken()).http!.port}/api`;
    await world.management.call('PUT', `/users/${clerk}`, { password: 'clerk', tags: 'management' });
    await world.management.call('PUT', `/permissions/${world.vhost}/${clerk}`, {
      configure: '^$',
      write: '^amq\\.default$',
      read: '^open',
    });
    for (const name of ['back', 'target']) await declare(name);
    const filled = { lot: 5, nameless: 2, 'open.dead': 1, 'closed.dead': 1 };
    for (const [name, count] of Object.entries(filled)) {
      await declare(name);
      await publish(name, count);
    }
    await seen(filled);
  }, 60_000);
  afterAll(async () => {
    await close?.();
    await world?.management.call('DELETE', `/users/${clerk}`);
    await world?.remove();
  });

  it('shows queues, effective settings and the topology to the users of the server', async () => {
    await declare('work', { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' });
    await declare('dead', { 'x-queue-type': 'quorum' });
    await world.management.call('PUT', `/policies/${world.vhost}/bounds`, {
      pattern: '^work$',
      definition: { 'max-length': 7 },
      'apply-to': 'queues',
    });
    expect((await ask('GET', '/whoami')).body).toMatchObject({ name: world.user });
    expect((await ask('GET', '/whoami', undefined, world.user, 'wrong')).status).toBe(401);
    expect((await ask('GET', '/dlx/capabilities')).body).toMatchObject({ product: 'RabbitMQ', look: false });
    const { body } = await ask('GET', `/dlx/queues?vhost=${world.vhost}&name=wo&page_size=10`);
    const dead = (await ask('GET', `/dlx/queues?vhost=${world.vhost}&dead=true`)).body['items'] as Body[];
    expect([...dead, ...(body['items'] as Body[])]).toMatchObject([
      { name: 'dead', type: 'quorum', dead_letter_queue: true },
      { name: 'work', type: 'classic', policy: 'bounds', dead_letter_queue: false },
    ]);
    const work = (await ask('GET', `/dlx/queues/${world.vhost}/work`)).body;
    expect(work['settings']).toContainEqual(
      expect.objectContaining({ key: 'max-length', value: 7, source: 'policy', name: 'bounds' }),
    );
    expect(work['dead_letters_to']).toMatchObject({ reaches: [{ queue: 'dead', certain: true }], dangling: false });
    const topology = (await ask('GET', `/dlx/topology?vhost=${world.vhost}`)).body;
    expect(topology['dead_letter_edges']).toMatchObject([{ queue: 'work', routing_key: 'dead' }]);
  }, 30_000);

  it('redrives the first messages of a queue, and keeps an audit of it', async () => {
    const order = { vhost: world.vhost, queue: 'lot', to: { exchange: '', routing_key: 'back' }, limit: 3, rate: 0 };
    const plan = await ask('POST', '/dlx/redrives', { ...order, dry_run: true });
    expect(plan).toMatchObject({
      status: 200,
      body: { moved: 3, ready_at_start: 5, destinations: [{ name: 'back' }] },
    });
    const begun = await ask('POST', '/dlx/redrives', order);
    expect(begun.status).toBe(201);
    expect(await ended(begun.body['id'])).toMatchObject({ state: 'completed', moved: 3, left: 0, reason: null });
    expect([await inQueue('lot'), await inQueue('back')]).toEqual([2, 3]);
    const audit = (await ask('GET', '/dlx/audit')).body['items'] as Body[];
    expect(audit[0]).toMatchObject({ action: 'redrive completed', user: world.user, details: { moved: 3 } });
  }, 60_000);

  it('leaves messages that name no origin, and those that no queue would get', async () => {
    const order = { vhost: world.vhost, queue: 'nameless', rate: 0 };
    const begun = await ask('POST', '/dlx/redrives', order);
    expect(await ended(begun.body['id'])).toMatchObject({ moved: 0, left: 2 });
    const astray = await ask('POST', '/dlx/redrives', { ...order, to: { exchange: '', routing_key: 'nowhere' } });
    await ended(astray.body['id']);
    expect(await inQueue('nameless')).toBe(2);
  }, 60_000);

  it('redrives with the rights of the user, not with those of the application', async () => {
    const to = { exchange: '', routing_key: 'target' };
    const mayNot = { vhost: world.vhost, queue: 'closed.dead', to };
    const refused = await ask('POST', '/dlx/redrives', mayNot, clerk, 'clerk');
    const task = await ended(refused.body['id'], clerk, 'clerk');
    expect(task).toMatchObject({ state: 'failed', moved: 0, by: clerk });
    expect(task['reason']).toMatch(/ACCESS_REFUSED|403/);
    const allowed = await ask('POST', '/dlx/redrives', { ...mayNot, queue: 'open.dead' }, clerk, 'clerk');
    expect(await ended(allowed.body['id'], clerk, 'clerk')).toMatchObject({ state: 'completed', moved: 1 });
    expect([await inQueue('closed.dead'), await inQueue('target')]).toEqual([1, 1]);
    expect((await ask('GET', '/dlx/audit', undefined, clerk, 'clerk')).status).toBe(401);
  }, 60_000);
});
