import { afterEach, describe, expect, it, vi } from 'vitest';
import { serve } from 'dlx-broker/server';
import { silentOutbox } from 'dlx-broker/engine';
import { RedisServer } from '../backends/redis.js';
import { start as bullmqAfter } from './bullmq/after.js';
import { start as bullmqBefore } from './bullmq/before.js';
import { start as golevelupAfter } from './golevelup/after.js';
import { start as golevelupBefore } from './golevelup/before.js';
import { start as nestAfter } from './nest-rabbitmq/after.js';
import { start as nestBefore } from './nest-rabbitmq/before.js';
import type { Mails, Shop } from './shop.js';

const opened: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

/** What a shop does, and how many of its orders are in the queue of dead letters. */
async function outcomeOf(start: (url: string) => Promise<Shop>) {
  const server = await serve({ amqp: { host: '127.0.0.1', port: 0 } });
  opened.push(server);
  const operator = server.broker.connect().openChannel(silentOutbox);
  operator.declareExchange('orders.dlx', { type: 'topic', durable: true });
  operator.declareQueue('orders.dead', { durable: true });
  operator.bindQueue('orders.dead', 'orders.dlx', 'failed');
  const shop = await start(`amqp://127.0.0.1:${server.amqp.port}`);
  opened.push(shop);
  const price = await shop.price(2);
  for (const [id, tenant] of [
    [7, 'tea house'],
    [8, 'tea house'],
    [9, 'coffee house'],
  ] as const)
    await shop.order(id, tenant);
  const { queues } = server.broker.virtualHost('/');
  const state = () => ({
    orders: shop.log.length,
    dead: queues.get('orders.dead')!.length,
    left: queues.get('orders')!.unacked,
  });
  await vi.waitFor(() => expect(state()).toEqual({ orders: 5, dead: 1, left: 0 }), { timeout: 5_000, interval: 10 });
  return { price, log: [...shop.log] };
}

const expected = {
  price: 6,
  log: [
    'order 7 of tea house',
    'order 8 of tea house',
    'order 9 of coffee house',
    'order 9 is late',
    'order 9 of coffee house',
  ],
};

describe('a shop does the same before and after its migration', () => {
  it.each([
    ["from Nest's RabbitMQ transport, before", nestBefore],
    ["from Nest's RabbitMQ transport, after", nestAfter],
    ['from golevelup, before', golevelupBefore],
    ['from golevelup, after', golevelupAfter],
  ])('%s', async (_, start) => {
    expect(await outcomeOf(start)).toEqual(expected);
  });
});

/** What a service of mails does. */
async function mailsOf(mails: Mails) {
  opened.push(mails);
  for (const to of ['busy', 'wrong', 'away']) await mails.send(to);
  await mails.send('later', 100);
  await vi.waitFor(() => expect(mails.log).toHaveLength(8), { timeout: 5_000, interval: 10 });
  await vi.waitFor(async () => expect([...(await mails.failed())].sort()).toEqual(['away', 'wrong']), {
    timeout: 5_000,
  });
  const log = [...mails.log];
  await mails.again();
  await vi.waitFor(async () => expect(await mails.failed()).toEqual(['wrong']), { timeout: 5_000 });
  const of = (to: string): string[] => log.filter((line) => line.startsWith(`to ${to},`));
  return { busy: of('busy'), wrong: of('wrong'), away: of('away'), later: of('later') };
}

const expectedMails = {
  busy: ['to busy, attempt 1', 'to busy, attempt 2', 'to busy, attempt 3'],
  wrong: ['to wrong, attempt 1'],
  away: ['to away, attempt 1', 'to away, attempt 2', 'to away, attempt 3'],
  later: ['to later, attempt 1'],
};

describe('mails are sent alike before and after their migration from BullMQ', () => {
  it('before', async ({ skip }) => {
    const redis = await RedisServer.start().catch((error: Error) => error);
    if (redis instanceof Error) return skip(`no Redis: ${redis.message}`);
    opened.push({ close: () => redis.kill() });
    expect(await mailsOf(await bullmqBefore(redis.url))).toEqual(expectedMails);
  });

  it('after', async () => {
    expect(await mailsOf(await bullmqAfter())).toEqual(expectedMails);
  });
});
