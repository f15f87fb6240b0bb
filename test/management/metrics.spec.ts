import { connect as connectTo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { metricTable } from '../../libs/dlx-broker/src/server/metrics/index.js';
import { type Served, serve } from '../../libs/dlx-broker/src/server/serve/serve.js';
import { type Exposition, readExposition } from '../metrics/exposition.js';
import { amqpUrl, metricsUrl, notNamed } from '../rabbitmq.js';
import { traffic } from '../metrics/harness.js';

if (amqpUrl === undefined) console.warn(`SKIPPED: the metrics of RabbitMQ: ${notNamed}`);

let served: Served;
beforeAll(async () => {
  served = await serve({
    rabbitmq: '3.10', // compared with a 3.10
    amqp: { host: '127.0.0.1', port: 0 },
    http: { port: 0 },
    metrics: { port: 0 },
    users: [
      { name: 'guest', password: 'guest', tags: ['administrator'], permissions: {} },
      { name: 'watcher', password: 'w', tags: ['monitoring'], permissions: {} },
      { name: 'shop', password: 's', tags: ['management'], permissions: {} },
    ],
  });
  traffic(served.broker);
});
afterAll(() => served.close());

const at = (path: string, headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${served.metrics!.port}${path}`, { headers });

const atManagement = (path: string, user?: string) =>
  fetch(`http://127.0.0.1:${served.http!.port}${path}`, {
    headers: user === undefined ? {} : { authorization: `Basic ${btoa(user)}` },
  });

describe('the port for metrics', () => {
  it.each(['/metrics', '/metrics/per-object', '/metrics/detailed?family=queue_coarse_metrics&vhost=%2F'])(
    'has %s without a login',
    async (path) => {
      const answer = await at(path);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
      expect(readExposition(await answer.text()).samples.length).toBeGreaterThan(10);
    },
  );

  it('has nothing else', async () => {
    expect((await at('/api/overview')).status).toBe(404);
    expect((await at('/')).status).toBe(404);
    expect((await at('/metrics/detailed?family=x')).status).toBe(400);
    const port = served.metrics!.port;
    expect((await fetch(`http://127.0.0.1:${port}/metrics`, { method: 'POST', body: 'x' })).status).toBe(405);
  });

  it('refuses names that a page of a stranger may have', async () => {
    const status = await new Promise<string>((resolve, reject) => {
      const socket = connectTo(served.metrics!.port, '127.0.0.1', () =>
        socket.write('GET /metrics HTTP/1.1\r\nHost: rebound.example\r\nConnection: close\r\n\r\n'),
      );
      socket.once('data', (data) => resolve(data.toString().split('\r\n')[0]!)).once('error', reject);
    });
    expect(status).toBe('HTTP/1.1 421 Misdirected Request');
  });

  it('measures the event loop while it is open', async () => {
    expect(await (await at('/metrics')).text()).toContain('dlx_event_loop_lag_seconds{quantile="0.99"}');
  });
});

describe('the port of the management API', () => {
  it('has the same for users with the tag monitoring, and for no others', async () => {
    const answer = await atManagement('/metrics', 'watcher:w');
    expect(answer.status).toBe(200);
    expect(readExposition(await answer.text()).types.get('rabbitmq_queues')).toBe('gauge');
    expect((await atManagement('/metrics')).status).toBe(401);
    expect((await atManagement('/metrics', 'shop:s')).status).toBe(401);
    expect((await atManagement('/metrics/per-object', 'guest:guest')).status).toBe(200);
    expect((await atManagement('/metrics/detailed?family=queue_metrics&vhost=none', 'watcher:w')).status).toBe(404);
  });
});

describe.skipIf(amqpUrl === undefined)('the metrics of RabbitMQ 3.10.8', () => {
  const labelsOf = ({ samples }: Exposition, name: string): string[] => [
    ...(samples.find((sample) => sample.name === name)?.labels.keys() ?? []),
  ];

  it('have the same types and labels here', async () => {
    const theirs = readExposition(await (await fetch(metricsUrl)).text());
    const ours = readExposition(await (await at('/metrics')).text());
    // Of later releases of RabbitMQ.
    const later = ['rabbitmq_message_size_bytes'];
    const names = metricTable
      .map(({ name }) => name)
      .filter((name) => name.startsWith('rabbitmq_') && !later.includes(name));
    expect(names.length).toBeGreaterThan(55);
    for (const name of names) {
      expect([name, ours.types.get(name)]).toEqual([name, theirs.types.get(name)]);
      const more = name === 'rabbitmq_identity_info' ? ['rabbitmq_endpoint'] : [];
      expect([name, ...labelsOf(ours, name).sort()]).toEqual([name, ...[...labelsOf(theirs, name), ...more].sort()]);
    }
  });
});
