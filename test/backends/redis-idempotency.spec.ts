import { readFileSync } from 'node:fs';
import { Injectable, Logger } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { createClient } from '@redis/client';
import {
  Consume,
  customBackend,
  DlxBroker,
  Idempotent,
  RedisIdempotencyStore,
  Retry,
  type RetryPolicy,
} from 'dlx-broker';
import type { IoRedis, NodeRedis } from '../../libs/dlx-broker/src/nest/features/idempotent/redis-store.js';
import { DlxTesting } from 'dlx-broker/testing';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { present } from '../amqp/present.js';
import { contextApp } from '../e2e/apps.js';
import { RedisServer } from './redis.js';

let server: RedisServer;
const isHere = await present('redis-server', async () => void (server = await RedisServer.start()));

/** The clients of one case, closed at its end. */
const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});
afterAll(() => (isHere ? server.kill() : undefined));

const prefix = 'dlx-broker:idempotency:';

/** Tells at once when Redis is not there, instead of waiting for it. */
function ioRedis(): Redis {
  const redis = new Redis(server.url, { enableOfflineQueue: false, maxRetriesPerRequest: 0, retryStrategy: () => 20 });
  redis.on('error', () => undefined);
  opened.push(() => redis.disconnect());
  return redis;
}

async function ready(redis: Redis): Promise<Redis> {
  await vi.waitFor(() => expect(redis.status).toBe('ready'), { timeout: 8_000 });
  return redis;
}

async function nodeRedis(): Promise<NodeRedis> {
  const redis = createClient({
    url: server.url,
    disableOfflineQueue: true,
    socket: { reconnectStrategy: () => 20 },
  });
  redis.on('error', () => undefined);
  await redis.connect();
  opened.push(() => redis.destroy());
  return redis;
}

/** Both clients that the store knows, each of them connected. */
const clients: readonly (readonly [string, () => Promise<IoRedis | NodeRedis>])[] = [
  ['ioredis', () => ready(ioRedis())],
  ['redis', nodeRedis],
];

interface Payment {
  readonly id: string;
}

/** A broker in virtual time, for one application or several; Redis has a time of its own. */
function newBroker(): DlxTesting {
  const dlx = new DlxTesting({ timeout: 5_000 });
  opened.push(() => dlx.close());
  return dlx;
}

/** An application with a handler of payments. */
async function app(
  dlx: DlxTesting,
  options: Parameters<typeof Idempotent<Payment>>[0],
  work: (payment: Payment) => unknown,
  retry: RetryPolicy | false = false,
) {
  @Injectable()
  class Payments {
    @Consume('payments')
    @Idempotent(options)
    @Retry(retry)
    pay(@Payload() payment: Payment): unknown {
      return work(payment);
    }
  }
  const application = await contextApp({
    providers: [Payments],
    options: { broker: customBackend(dlx.backend), drainTimeout: 0 },
  });
  return { counts: () => application.get(DlxBroker).counts, close: () => application.close() };
}

const publish = (dlx: DlxTesting, id: string, messageId = id) => dlx.publish('payments', { id }, { messageId });

/** Waits in real time, for Redis has no other. */
const until = (isSo: () => Promise<void>) => vi.waitFor(isSo, { timeout: 5_000, interval: 5 });

describe.skipIf(!isHere).each(clients)('on a real Redis, by the client %s, a message', (_, connect) => {
  const store = async () => new RedisIdempotencyStore(await connect());
  let asked: Redis;
  beforeEach(async () => {
    asked = await ready(ioRedis());
    await asked.flushall();
  });

  it('is handled the first time, and acknowledged unseen when it comes again', async () => {
    const paid: string[] = [];
    const dlx = newBroker();
    const { counts } = await app(dlx, { store: await store() }, ({ id }) => void paid.push(id));
    await publish(dlx, 'a', 'm1');
    await dlx.settled();
    expect(await asked.get(`${prefix}payments:m1`)).toBe('done');
    await publish(dlx, 'a', 'm1');
    await publish(dlx, 'b', 'm2');
    await dlx.settled();
    expect(paid).toEqual(['a', 'b']);
    expect(counts()).toMatchObject({ acked: 2, duplicates: 1 });
    dlx.expectQueue('payments').toBeEmpty();
  });

  it('is remembered as long as its ttl says, and then forgotten by Redis itself', async () => {
    const paid: string[] = [];
    const dlx = newBroker();
    await app(dlx, { store: await store(), ttl: 1_000 }, ({ id }) => void paid.push(id));
    await publish(dlx, 'a');
    await dlx.settled();
    const left = await asked.pttl(`${prefix}payments:a`);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(1_000);
    await until(async () => expect(await asked.exists(`${prefix}payments:a`)).toBe(0));
    await publish(dlx, 'a');
    await dlx.settled();
    expect(paid).toEqual(['a', 'a']);
  });

  it('has its key while it is handled, under the lease, and gives it back when its handler fails', async () => {
    const seen: unknown[] = [];
    const dlx = newBroker();
    const { counts } = await app(
      dlx,
      { store: await store(), lease: '1m' },
      async () => {
        const [claim, left] = [await asked.get(`${prefix}payments:a`), await asked.pttl(`${prefix}payments:a`)];
        seen.push(claim?.split(' ')[0], left > 50_000 && left <= 60_000);
        if (seen.length < 4) throw new Error('down');
      },
      { attempts: 2, backoff: '1s' },
    );
    await publish(dlx, 'a');
    await dlx.settled();
    expect(await asked.exists(`${prefix}payments:a`)).toBe(0);
    await dlx.advance('1s');
    expect(seen).toEqual(['busy', true, 'busy', true]);
    expect(counts()).toMatchObject({ acked: 1, retried: 1, duplicates: 0 });
  });

  it('whose process died with the claim is handled once the lease is over, and not before', async () => {
    const dlx = newBroker();
    const dying = await store();
    const first = await app(dlx, { store: dying, lease: 3_000 }, () => new Promise(() => undefined));
    await publish(dlx, 'a');
    await until(async () => expect(await asked.exists(`${prefix}payments:a`)).toBe(1));
    await first.close(); // its handler never ended, so the key is not given back
    const paid: string[] = [];
    const { counts } = await app(dlx, { store: await store(), lease: 3_000 }, ({ id }) => void paid.push(id));
    await dlx.settled();
    expect(await asked.exists(`${prefix}payments:a`)).toBe(1);
    expect(paid).toEqual([]);
    await until(async () => expect(await asked.exists(`${prefix}payments:a`)).toBe(0));
    await dlx.advance('1s');
    expect(paid).toEqual(['a']);
    expect(counts()).toMatchObject({ acked: 1 });
  });

  it('is claimed by one of two who race for it over connections of their own', async () => {
    const [one, other] = [await store(), await store()];
    const keys = Array.from({ length: 300 }, (_, index) => `k${index}`);
    const claims = await Promise.all(
      keys.map((key) => Promise.all([one.claim(key, 60_000, 'one'), other.claim(key, 60_000, 'other')])),
    );
    expect(claims.filter((pair) => pair.toSorted().join() === 'busy,claimed')).toHaveLength(keys.length);
  });

  it('is handled once though two applications have it, each with a connection of its own', async () => {
    const dlx = newBroker();
    const paid: string[] = [];
    const work = async ({ id }: Payment): Promise<void> => {
      await asked.ping(); // the twin may come meanwhile
      paid.push(id);
    };
    const apps = [await app(dlx, { store: await store() }, work), await app(dlx, { store: await store() }, work)];
    const ids = Array.from({ length: 60 }, (_, index) => `p${index}`);
    await Promise.all([...ids, ...ids].map((id) => publish(dlx, id)));
    await dlx.advance('30s');
    expect(paid.toSorted()).toEqual(ids.toSorted());
    expect(apps.reduce((sum, { counts }) => sum + counts().duplicates, 0)).toBe(ids.length);
    expect(apps.every(({ counts }) => counts().acked > 0)).toBe(true);
  });

  it('that lapsed is not taken back by who had it before', async () => {
    const [slow, quick] = [await store(), await store()];
    await slow.claim('k', 30, 'slow');
    await until(async () => expect(await quick.claim('k', 60_000, 'quick')).toBe('claimed'));
    await slow.release('k', 'slow');
    expect(await slow.claim('k', 60_000, 'third')).toBe('busy');
    await quick.done('k', 60_000);
    await quick.release('k', 'quick');
    expect(await slow.claim('k', 60_000, 'third')).toBe('done');
  });

  it.each(['', ' ', 'a b\r\nDEL a', 'q"*?[x]{y}\\', 'null\0in it', 'é漢👩‍👩‍👧', '__proto__', 'x'.repeat(100_000)])(
    'with an odd key differs from all others: %j',
    async (key) => {
      const odd = await store();
      expect(await odd.claim(key, 60_000, 'one')).toBe('claimed');
      expect(await odd.claim(`${key}.`, 60_000, 'two')).toBe('claimed');
      await odd.done(key, 60_000);
      await odd.release(`${key}.`, 'two');
      expect(await odd.claim(key, 60_000, 'three')).toBe('done');
      expect(await asked.keys('*')).toEqual([prefix + key]);
    },
  );

  it('outlives a Redis that is down: it says why, and is handled when Redis is back', async () => {
    const dlx = newBroker();
    const paid: string[] = [];
    const used = await store();
    const { counts } = await app(dlx, { store: used }, ({ id }) => void paid.push(id));
    const said: unknown[] = [];
    const warn = vi.spyOn(Logger.prototype, 'warn').mockImplementation((line) => void said.push(line));
    opened.push(() => warn.mockRestore());
    await server.kill();
    await publish(dlx, 'a');
    await dlx.advance('5s');
    expect(paid).toEqual([]);
    expect(counts()).toMatchObject({ acked: 0, rejected: 0 });
    expect(said.at(-1)).toMatch(
      /^Payments\.pay: attempt \d+ failed, queue 'payments', next in 1000 ms: RetryLater: @Idempotent on Payments\.pay: its store cannot be asked: .+/,
    );
    await server.start();
    await until(async () => void (await used.release('nothing', 'nobody')));
    await dlx.advance('1s');
    expect(paid).toEqual(['a']);
    dlx.expectQueue('payments').toBeEmpty();
  });
});

describe.skipIf(!isHere)('docs/guide/idempotency.md', () => {
  const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

  it('shows an example with Redis that prints what it says', async () => {
    const [page, example] = [read('docs/guide/idempotency.md'), read('test/examples/idempotency-redis.ts')];
    const [, said = ''] = /```text\n([\s\S]*?)```/.exec(page.slice(page.indexOf(example))) ?? [];
    expect(page).toContain(`\`\`\`ts\n${example}\`\`\``);
    const asked = await ready(ioRedis());
    await asked.flushall();
    vi.resetModules(); // it may be run again
    const lines: unknown[] = [];
    const log = vi.spyOn(console, 'log').mockImplementation((...words) => void lines.push(words.join(' ')));
    vi.stubEnv('REDIS_URL', server.url);
    opened.push(
      () => log.mockRestore(),
      () => vi.unstubAllEnvs(),
    );
    await import('../examples/idempotency-redis.js');
    expect(`${lines.join('\n')}\n`).toBe(said);
  });
});
