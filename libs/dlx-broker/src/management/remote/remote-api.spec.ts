import { describe, expect, it } from 'vitest';
import type { ApiHarness } from '../../../../../test/harnesses/api-harness.js';
import { remoteHarness } from '../../../../../test/harnesses/remote-harness.js';
import { silentOutbox } from '../../broker/index.js';

type Body = Record<string, unknown>;

/** A shop with a retry loop, a parking lot, policies, and messages. */
function furnish({ broker }: ApiHarness): void {
  const channel = broker.connect().openChannel(silentOutbox);
  const text = (value: string) => ({ type: 'S', value }) as const;
  channel.declareExchange('dead', { type: 'fanout', durable: true });
  channel.declareQueue('orders', { durable: true, arguments: new Map([['x-dead-letter-exchange', text('dead')]]) });
  channel.declareQueue('orders.dead', { durable: true });
  channel.bindQueue('orders.dead', 'dead', '');
  channel.declareQueue('orders.parked', { durable: true });
  channel.declareQueue('wait', {
    durable: true,
    arguments: new Map<string, { type: 'S'; value: string } | { type: 'I'; value: number }>([
      ['x-dead-letter-exchange', text('')],
      ['x-dead-letter-routing-key', text('work')],
      ['x-message-ttl', { type: 'I', value: 5000 }],
    ]),
  });
  channel.declareQueue('work', {
    durable: true,
    arguments: new Map([
      ['x-dead-letter-exchange', text('')],
      ['x-dead-letter-routing-key', text('wait')],
    ]),
  });
  channel.declareQueue('lost', { durable: true, arguments: new Map([['x-dead-letter-exchange', text('gone')]]) });
  const vhost = broker.virtualHosts.get('/')!;
  vhost.setPolicy('bounded', { pattern: '^orders$', definition: { 'max-length': 10, 'message-ttl': 60_000 } });
  vhost.setOperatorPolicy('strict', { pattern: '^orders$', definition: { 'max-length': 5 } });
  for (let count = 0; count < 3; count++) channel.publish('', 'orders.dead', {}, Buffer.from('{}'));
}

const without = (row: Body, names: readonly string[]): Body =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));

/** What both sides can know. */
const known = (row: Body): Body =>
  without(row, ['dead_in_rate', 'dead_out_rate', 'dead_letters_in', 'oldest', 'counters', 'state']);

describe('the console of an application on RabbitMQ', () => {
  it('shows the queues as the broker of dlx-broker shows its own', async () => {
    const harness = remoteHarness();
    furnish(harness.server);
    for (const query of ['', '?name=ORD&sort=messages_ready&sort_reverse=true', '?vhost=%2F&page_size=2&page=2']) {
      const own = (await harness.server.call('GET', `/dlx/queues${query}`)).body as Body;
      const shown = await harness.call('GET', `/dlx/queues${query}`);
      expect(shown.status).toBe(200);
      const body = shown.body as Body;
      // A parking lot is found by its name: the server does not show messages.
      const rows = (of: Body) => (of['items'] as Body[]).map(known).filter(({ name }) => name !== 'orders.parked');
      expect(rows(body).map(bare)).toEqual(rows(own).map(bare));
    }
    const dead = (await harness.call('GET', '/dlx/queues?dead=true')).body as { items: Body[] };
    expect(dead.items.map(({ name }) => name)).toEqual(['orders.dead', 'orders.parked', 'wait']);
    expect(dead.items[0]).toMatchObject({ messages_ready: 3, oldest: null, dead_in_rate: null, dead_letters_in: null });
  });

  it('shows the settings of a queue with their sources, and where its dead letters go', async () => {
    const harness = remoteHarness();
    furnish(harness.server);
    for (const name of ['orders', 'orders.dead', 'work', 'wait', 'lost']) {
      const own = (await harness.server.call('GET', `/dlx/queues/%2F/${name}`)).body as Body;
      const { status, body } = await harness.call('GET', `/dlx/queues/%2F/${name}`);
      expect(status).toBe(200);
      expect(bare(known(body as Body))).toEqual(bare(known(own)));
    }
  });

  it('shows the topology as the broker of dlx-broker shows its own', async () => {
    const harness = remoteHarness();
    furnish(harness.server);
    const own = (await harness.server.call('GET', '/dlx/topology')).body as Record<string, Body[]>;
    const shown = (await harness.call('GET', '/dlx/topology')).body as Record<string, Body[]>;
    expect(shown['loops']).toHaveLength(1);
    expect(shown['dangling']).toEqual([{ vhost: '/', kind: 'dead-letter-exchange', of: 'lost', exchange: 'gone' }]);
    for (const part of ['dead_letter_edges', 'loops', 'dangling', 'bindings', 'exchanges'] as const) {
      const sorted = (rows: readonly Body[] | undefined) => rows?.map((row) => JSON.stringify(row)).toSorted();
      expect(sorted(shown[part])).toEqual(sorted(own[part]));
    }
  });

  it('sums up, and says which rates RabbitMQ does not count', async () => {
    const harness = remoteHarness();
    furnish(harness.server);
    const { body } = await harness.call('GET', '/dlx/overview');
    expect(body).toMatchObject({
      totals: { queues: 6, dead_letter_queues: 3, dead_letters: 3, messages_ready: 3 },
      dead_letter_rates: null,
      rates_series: null,
      top: [{ vhost: '/', name: 'orders.dead', messages_ready: 3 }],
      alarms: [{ kind: 'stuck_dlx', queue: 'lost' }],
    });
    expect((await harness.call('GET', '/dlx/capabilities')).body).toEqual({
      product: 'RabbitMQ',
      version: '3.10.8',
      server: 'http://127.0.0.1:15672',
      look: false,
      redrive: 'first',
      edits: false,
      events: false,
      deaths: false,
      pause: false,
    });
  });

  it('shows a server that has no path for policies of the operator', async () => {
    const harness = remoteHarness({ absentPaths: ['/operator-policies'] });
    furnish(harness.server);
    const { status, body } = await harness.call('GET', '/dlx/queues/%2F/orders');
    expect(status).toBe(200);
    expect((body as Record<string, Body[]>)['settings']).toContainEqual(
      expect.objectContaining({ key: 'max-length', value: 10, source: 'policy' }),
    );
  });

  it('names the parts of the topology that the engine here does not know', async () => {
    const harness = remoteHarness();
    furnish(harness.server);
    const { send } = harness.remote.server;
    const withPlugin: typeof send = async (request) => {
      harness.answer = undefined; // for this request alone
      const answered = send(request);
      harness.answer = withPlugin;
      const answer = await answered;
      if (!request.path.startsWith('/api/exchanges')) return answer;
      const rows = (await new Response(answer.body).json()) as { items: Body[] };
      rows.items.push({ vhost: '/', name: 'hash', type: 'x-consistent-hash', durable: true, arguments: {} });
      return { ...answer, body: new Response(JSON.stringify(rows)).body! };
    };
    harness.answer = withPlugin;
    const { body } = await harness.call('GET', '/dlx/overview');
    expect(body).toMatchObject({ unknown: ["type 'x-consistent-hash' of exchange 'hash'"], more_unknown: 0 });
  });

  it('lists the parking lots of the application, whatever their names are', async () => {
    const names = new Set(['lost']);
    const harness = remoteHarness({ remoteHost: { parkingLots: () => ({ vhost: '/', names }) } });
    furnish(harness.server);
    const listed = async () => {
      const { body } = await harness.call('GET', '/dlx/queues?dead=true');
      return (body as { items: Body[] }).items.map(({ name }) => name);
    };
    expect(await listed()).toEqual(['lost', 'orders.dead', 'orders.parked', 'wait']);
    names.add('orders'); // a stream parks there
    harness.server.clock.advance(5_001);
    expect(await listed()).toEqual(['lost', 'orders', 'orders.dead', 'orders.parked', 'wait']);
  });

  it('has no metrics, and says where they are', async () => {
    const { api } = remoteHarness();
    for (const path of ['/metrics', '/metrics/per-object']) {
      const answer = await api.fetch(new Request(`http://127.0.0.1:8080${path}`));
      expect([answer.status, (await answer.json()) as object]).toEqual([
        501,
        { error: 'not_possible', reason: expect.stringContaining('registerDlxMetrics()') },
      ]);
    }
  });

  it('refuses what RabbitMQ cannot do, and paths that the console does not need', async () => {
    const { call } = remoteHarness();
    const refused = await call('GET', '/dlx/queues/%2F/orders/messages');
    expect(refused.status).toBe(501);
    for (const method of ['PUT', 'DELETE']) {
      expect(await call(method, '/dlx/queues/%2F/orders/pause')).toMatchObject({
        status: 501,
        body: { error: 'not_possible', reason: expect.stringContaining('RabbitMQ cannot pause a queue') },
      });
    }
    expect(refused.body).toMatchObject({
      error: 'not_possible',
      reason: expect.stringContaining('redrive a whole queue'),
    });
    for (const path of ['/definitions', '/nodes', '/queues/%2F/a/get', '/users/guest', '/global-parameters']) {
      expect((await call('GET', path)).status).toBe(404);
    }
    expect((await call('DELETE', '/queues/%2F')).status).toBe(405);
    expect((await call('PUT', '/queues/%2F/new', { body: {} })).status).toBe(405);
  });
});

/** Without what depends on the way in which the server counts. */
const bare = (row: Body): Body => without(row, ['publish_rate', 'deliver_rate', 'dead_letter_queue']);
