import { describe, expect, it } from 'vitest';
import { silentOutbox } from '../../../engine/broker/index.js';
import { toFieldTable } from '../../../engine/message/index.js';
import { apiHarness } from '../../../../../../test/harnesses/api-harness.js';

describe('GET /api/dlx/topology', () => {
  const arrange = () => {
    const rooms = apiHarness();
    const channel = rooms.broker.connect().openChannel(silentOutbox);
    const args = (more: Record<string, unknown>) => ({ arguments: toFieldTable(more) });
    channel.declareExchange('orders', { type: 'topic', durable: true });
    channel.declareQueue('work', args({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'wait' }));
    const wait = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'work', 'x-message-ttl': 5_000 };
    channel.declareQueue('wait', args(wait));
    channel.declareQueue('lost', args({}));
    rooms.broker
      .virtualHost('/')
      .setPolicy('dead', { pattern: '^lost$', definition: { 'dead-letter-exchange': 'gone' } });
    channel.bindQueue('work', 'orders', 'order.#', toFieldTable({ 'x-note': 1 }));
    channel.publish('orders', 'order.new', {}, Buffer.from('x'));
    return rooms;
  };
  const visible = (rows: readonly { readonly name: string }[]) => rows.filter(({ name }) => !/^(amq\.|$)/.test(name));

  it('shows exchanges, queues, bindings, edges, loops, and what is not there', async () => {
    const { status, body } = await arrange().call('GET', '/dlx/topology');
    const { exchanges, ...rest } = body as { exchanges: { name: string }[] };
    expect(status).toBe(200);
    expect(visible(exchanges)).toEqual([
      {
        vhost: '/',
        name: 'orders',
        type: 'topic',
        durable: true,
        internal: false,
        alternate_exchange: null,
        policy: null,
      },
    ]);
    expect(rest).toMatchObject({
      queues: [
        { vhost: '/', name: 'work', type: 'classic', messages_ready: 1, message_ttl: null, policy: null },
        { name: 'wait', message_ttl: 5_000 },
        { name: 'lost', policy: 'dead' },
      ],
      bindings: [
        {
          vhost: '/',
          source: 'orders',
          destination: 'work',
          destination_type: 'queue',
          routing_key: 'order.#',
          arguments: { 'x-note': { type: 'signedint', value: 1 } },
        },
      ],
      dead_letter_edges: [
        {
          vhost: '/',
          queue: 'work',
          exchange: '',
          routing_key: 'wait',
          by: 'argument',
          policy: null,
          strategy: 'at-most-once',
          exchange_exists: true,
          reaches: [{ queue: 'wait', certain: true }],
          automatic: [],
          delay: null,
        },
        { queue: 'wait', automatic: ['expired'], delay: 5_000 },
        { queue: 'lost', routing_key: null, by: 'policy', policy: 'dead', exchange_exists: false, reaches: [] },
      ],
      loops: [
        { vhost: '/', queues: ['wait', 'work'], kind: 'retry', cut_by_rule_i2: false, certain: true, delay: 5_000 },
      ],
      dangling: [{ vhost: '/', kind: 'dead-letter-exchange', of: 'lost', exchange: 'gone' }],
    });
  });

  it('shows what one may see, or one virtual host', async () => {
    const { call, broker } = arrange();
    broker.addVirtualHost('other');
    broker.connect({ vhost: 'other' }).openChannel(silentOutbox).declareQueue('there', {});
    broker.access.setUser('eve', { tags: ['management'], passwordHash: broker.access.user('guest')!.passwordHash });
    broker.access.setPermissions('eve', 'other', { configure: '', write: '', read: '' });
    const names = async (query: string, as: string) => {
      const { body } = await call('GET', `/dlx/topology${query}`, { as });
      return (body as { queues?: { name: string }[] }).queues?.map(({ name }) => name);
    };
    expect(await names('', 'guest:guest')).toEqual(['work', 'wait', 'lost', 'there']);
    expect(await names('', 'eve:guest')).toEqual(['there']);
    expect(await names('?vhost=other', 'guest:guest')).toEqual(['there']);
    expect((await call('GET', '/dlx/topology?vhost=%2F', { as: 'eve:guest' })).status).toBe(401);
    expect((await call('GET', '/dlx/topology?vhost=none')).status).toBe(404);
    expect((await call('GET', '/dlx/topology?v=1')).body).toMatchObject({
      reason: "unknown parameter 'v'; known are vhost, queue, most",
    });
  });

  it('shows the part around a queue, or of loops only, and says that it is not all', async () => {
    const rooms = arrange();
    const channel = rooms.broker.connect().openChannel(silentOutbox);
    for (let number = 0; number < 20; number++) channel.declareQueue(`other-${number}`);
    const to = (name: string) => ({
      arguments: toFieldTable({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': name }),
    });
    channel.declareQueue('before', to('lone'));
    channel.declareQueue('lone', to('after'));
    channel.declareQueue('after');
    // Which queue a message of this one returns to is not known, so it is near none.
    channel.declareQueue('wait.1000', {
      arguments: toFieldTable({ 'x-dead-letter-exchange': '', 'x-message-ttl': 1 }),
    });
    type Part = Record<'queues' | 'bindings' | 'dead_letter_edges', { name: string; reaches: unknown[] }[]>;
    const ask = async (query: string): Promise<Part & Record<string, unknown>> =>
      (await rooms.call('GET', `/dlx/topology${query}`)).body as Part & Record<string, unknown>;
    const names = ({ queues }: Part) => queues.map(({ name }) => name);
    const around = await ask('?vhost=%2F&queue=lone');
    expect(names(around)).toEqual(['before', 'lone', 'after']);
    expect(around).toMatchObject({ complete: false, total_queues: 27, loops: [], dangling: [], bindings: [] });
    expect(around.dead_letter_edges.map(({ reaches }) => reaches)).toEqual([
      [{ queue: 'lone', certain: true }],
      [{ queue: 'after', certain: true }],
    ]);
    expect(names(await ask('?vhost=%2F&queue=lone&most=4'))).toEqual(['lone', 'after']);
    const loops = await ask('?most=10');
    expect([names(loops), loops['complete'], loops['total_queues']]).toEqual([['work', 'wait'], false, 27]);
    expect(loops.bindings).toHaveLength(1);
    const whole = await ask('?most=100');
    expect([whole.queues.length, whole['complete']]).toEqual([27, true]);
  });

  it.each([
    ['?queue=work', 400],
    ['?vhost=%2F&queue=none', 404],
    ['?most=1', 400],
    ['?most=x', 400],
  ])('answers %s with %i', async (query, status) => {
    expect((await arrange().call('GET', `/dlx/topology${query}`)).status).toBe(status);
  });
});
