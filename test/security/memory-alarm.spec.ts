import { afterEach, describe, expect, it } from 'vitest';
import { policyPatterns, randomNames, SystemClock } from '../../libs/dlx-broker/src/platform/index.js';
import { Broker } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { serve, type Served, type ServeOptions } from '../../libs/dlx-broker/src/server/serve/serve.js';
import { guestOf, addUsers } from '../../libs/dlx-broker/src/platform/logins/index.js';
import { Listeners } from '../../libs/dlx-broker/src/server/serve/listeners.js';
import { until } from '../amqp/harness.js';
import { WireConnection } from '../contract/wire/connection.js';
import { memoryInUse } from './memory.js';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function open(options: ServeOptions): Promise<Served> {
  const served = await serve({ amqp: { host: '127.0.0.1', port: 0 }, http: { port: 0 }, ...options });
  ends.push(() => served.close());
  return served;
}

const wireOf = ({ amqp: { port } }: Served) => ({
  host: '127.0.0.1',
  port,
  user: 'guest',
  password: 'guest',
  vhost: '/',
});

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

async function ask(port: number, method: string, path: string, body?: unknown): Promise<Answer> {
  const answer = await fetch(`http://127.0.0.1:${port}/api${path}`, {
    method,
    headers: {
      authorization: `Basic ${Buffer.from('guest:guest').toString('base64')}`,
      'content-type': 'application/json',
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
}

const message = { routing_key: 'q', properties: {}, payload: 'x', payload_encoding: 'string' };

describe('one measure of memory', () => {
  it('serves alarm, nodes and health checks, and stops publishes and imports over HTTP', async () => {
    const served = await open({ memoryLimit: 2 });
    const { port } = served.http as { port: number };
    expect(served.amqp.raised).toEqual(['memory']);
    expect(await ask(port, 'GET', '/nodes')).toMatchObject({ body: [{ mem_alarm: true, mem_limit: 2 }] });
    expect((await ask(port, 'GET', '/health/checks/local-alarms')).status).toBe(503);
    const refusal = { status: 503, body: { error: 'resource_alarm' } };
    expect(await ask(port, 'PUT', '/queues/%2F/q', {})).toMatchObject({ status: 201 });
    expect(await ask(port, 'POST', '/exchanges/%2F/amq.default/publish', message)).toMatchObject(refusal);
    expect(await ask(port, 'POST', '/definitions', { queues: [] })).toMatchObject(refusal);
    expect(await ask(port, 'POST', '/definitions/%2F', { queues: [] })).toMatchObject(refusal);
    expect(served.broker.virtualHost('/').queues.get('q')?.length).toBe(0);
  });

  it('stops large bodies of any request over HTTP, so that operators go on with small ones', async () => {
    const served = await open({ memoryLimit: 2 });
    const { port } = served.http as { port: number };
    const note = 'x'.repeat(100_000);
    const refusal = { status: 503, body: { error: 'resource_alarm' } };
    for (const path of ['/queues/%2F/large', '/users/ada', '/policies/%2F/p', '/parameters/shovel/%2F/s'])
      expect(await ask(port, 'PUT', path, { note }), path).toMatchObject(refusal);
    expect(await ask(port, 'POST', '/queues/%2F/q/get', { note })).toMatchObject(refusal);
    expect(await ask(port, 'PUT', '/queues/%2F/q', {})).toMatchObject({ status: 201 });
    expect(await ask(port, 'DELETE', '/queues/%2F/q')).toMatchObject({ status: 204 });
    expect([...served.broker.virtualHost('/').queues.keys()]).toEqual([]);
  });

  it('says what is in use: the number that is compared with the limit', async () => {
    const served = await open({});
    const { port } = served.http as { port: number };
    const [node] = (await ask(port, 'GET', '/nodes')).body as [{ mem_used: number; mem_limit: number }];
    expect(Math.abs(node.mem_used - memoryInUse())).toBeLessThan(100_000_000);
    expect(node).toMatchObject({ mem_alarm: node.mem_used > node.mem_limit });
    expect(await ask(port, 'POST', '/exchanges/%2F/amq.default/publish', message)).toMatchObject({ status: 200 });
  });

  it('holds without a port for AMQP, too', async () => {
    const broker = new Broker({ clock: new SystemClock(), names: randomNames, patterns: policyPatterns });
    addUsers(broker, [guestOf('/')]);
    const ways = new Listeners(broker, undefined, { http: { port: 0 }, memoryLimit: 2 });
    await ways.open();
    ends.push(async () => {
      await ways.close();
      broker.close();
    });
    const { port } = ways.http as { port: number };
    expect(await ask(port, 'GET', '/health/checks/alarms')).toMatchObject({ status: 503 });
    expect(await ask(port, 'POST', '/exchanges/%2F/amq.default/publish', message)).toMatchObject({ status: 503 });
  });

  it.each([0, -1, NaN, Infinity])('refuses %s as a limit', async (memoryLimit) => {
    await expect(serve({ amqp: { host: '127.0.0.1', port: 0 }, memoryLimit })).rejects.toThrow('memoryLimit');
  });
});

describe('the alarm stops in time', () => {
  const body = Buffer.alloc(1_000_000, 0x61);
  it.each([
    ['what waits in a queue', false],
    ['what a transaction holds and does not commit', true],
  ])('%s', async (_, transacts) => {
    const room = 60_000_000;
    const served = await open({ memoryLimit: memoryInUse() + room });
    const connection = await WireConnection.open(wireOf(served));
    const channel = await connection.openChannel(1);
    await channel.call('queue.declare', { queue: 'q' });
    if (transacts) await channel.call('tx.select', {});
    const before = memoryInUse();
    for (let count = 0; count < 200 && served.amqp.raised.length === 0; count++) {
      channel.publish({ exchange: '', key: 'q' }, {}, body);
      await new Promise((resolve) => setImmediate(resolve));
      await until(() => connection.socket.writableLength < 2_000_000 || served.amqp.raised.length > 0);
    }
    channel.publish({ exchange: '', key: 'q' }, {}, body);
    await until(() => [...served.amqp.connections].some(({ shownState }) => shownState === 'blocked'));
    expect(served.amqp.raised).toEqual(['memory']);
    expect(memoryInUse() - before).toBeLessThan(room + 40_000_000);
    connection.drop();
    // With a transaction what was held is given up, and others may go on.
    if (transacts) await until(() => served.amqp.raised.length === 0);
  });
});
