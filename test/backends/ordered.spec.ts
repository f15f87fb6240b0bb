import { Injectable } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import { Consume, DlxBroker, DlxBrokerModule, DlxContext, Ordered, Park, Prefetch, rabbitmq, Retry } from 'dlx-broker';
import { describe, expect, it } from 'vitest';
import type { OrderedQueue } from '../../libs/dlx-broker/src/nest/features/ordered/ordered-queue.js';
import { queueNamed, topologyOf } from '../harnesses/declared.js';
import { endsAfterEach } from '../harnesses/ends.js';
import { Proxy } from './proxy.js';
import { serverKinds, type World } from './worlds.js';

interface Entry {
  readonly key: string;
  readonly n: number;
}

/** What happened on all instances, in order. */
class Account {
  readonly done: (Entry & { readonly by: string })[] = [];
  readonly begun: Entry[] = [];
  readonly aborted: Entry[] = [];
  readonly overlaps: string[] = [];
  readonly atWork = new Map<string, string>();
  /** Handlers wait here. */
  gate = Promise.resolve();
}

const names = [...'abcde'];
const perKey = 16;
const all = Array.from({ length: perKey }, (_, n) => names.map((key) => ({ key, n }))).flat();

/** An instance of the application. */
async function instance(by: string, urls: string, account: Account, window = 50) {
  @Injectable()
  class Handlers {
    @Consume('work')
    @Prefetch(5)
    @Retry({ attempts: 3, backoff: 20 })
    @Ordered({ key: (entry: Entry) => entry.key, window })
    async work(@Payload() entry: Entry, @Ctx() context: DlxContext): Promise<void> {
      const { key, n } = entry;
      const other = account.atWork.get(key);
      if (other !== undefined) account.overlaps.push(`${by} begins ${key}${n} while ${other} is at work`);
      account.atWork.set(key, `${by} ${n}`);
      account.begun.push(entry);
      context.signal.addEventListener('abort', () => account.aborted.push(entry));
      await new Promise((resolve) => setTimeout(resolve, 5));
      await account.gate;
      account.atWork.delete(key);
      if (n === 3 && context.attempt < 3) throw new Error('another time');
      if (n === 5) {
        account.done.push({ ...entry, by });
        throw new Park('not this one');
      }
      account.done.push({ ...entry, by });
    }
  }
  const broker = rabbitmq({ urls, longestPause: 100, publishTimeout: '8s', closeTimeout: '2s' });
  return NestFactory.createApplicationContext(
    { module: class {}, imports: [DlxBrokerModule.forRoot({ broker })], providers: [Handlers] },
    { logger: false, abortOnError: false },
  );
}

const publish = async ({ backend }: World, entries: readonly Entry[]): Promise<void> => {
  const published = entries.map(
    (entry) =>
      new Promise<void>((resolve, reject) => {
        const properties = { deliveryMode: 2, contentType: 'application/json' };
        const body = Buffer.from(JSON.stringify(entry));
        backend.publish({ exchange: '', routingKey: 'work', properties, body, mandatory: true }, (failure) =>
          failure === undefined ? resolve() : reject(failure),
        );
      }),
  );
  await Promise.all(published);
};

/** The numbers of one key, in the order of their completion. */
const ofKey = (account: Account, name: string): number[] =>
  account.done.filter(({ key }) => key === name).map(({ n }) => n);

for (const kind of serverKinds) {
  const unavailable = await kind.unavailable();
  if (unavailable !== undefined) console.warn(`SKIPPED: order per key on ${kind.name}: ${unavailable}`);

  describe.skipIf(unavailable !== undefined)(`order per key on ${kind.name}`, () => {
    const ends = endsAfterEach();

    async function world(): Promise<World> {
      const found = await kind.open();
      ends.push(() => found.close());
      await found.backend.connect();
      return found;
    }

    const left = async ({ backend }: World): Promise<number | undefined> => (await backend.status('work'))?.messages;

    it('holds when the connection is lost with 50 in hand: only those come twice', async () => {
      const server = await world();
      const proxy = await Proxy.open(server.url!);
      ends.push(() => proxy.close());
      const account = new Account();
      const app = await instance('one', proxy.url, account);
      ends.push(() => app.close());
      let open = (): void => undefined;
      account.gate = new Promise((resolve) => (open = resolve));
      await publish(server, all);
      await expect.poll(() => account.begun.length).toBe(5);
      const [ordered] = app.get(DlxBroker).orders as readonly OrderedQueue[];
      await expect.poll(() => ordered!.inHand).toBe(50);
      proxy.cut();
      await expect.poll(() => account.aborted.length).toBe(5);
      expect(account.done).toEqual([]);
      await expect.poll(() => ordered!.inHand, { timeout: 8_000 }).toBeGreaterThanOrEqual(50);
      open();
      account.gate = Promise.resolve();
      await expect.poll(() => [ordered!.inHand, ordered!.atWork], { timeout: 8_000 }).toEqual([0, 0]);
      await expect.poll(() => left(server)).toBe(0);
      expect(account.overlaps).toEqual([]);
      for (const name of names) {
        // The run that was at work when the connection was lost, and then everything once, in order.
        expect(ofKey(account, name)).toEqual([0, ...Array.from({ length: perKey }, (_, n) => n)]);
      }
      expect((await server.backend.status('work.parked'))?.messages).toBe(names.length);
    });

    it('holds over a rolling shutdown: no two instances are at work on a key', async () => {
      const server = await world();
      const account = new Account();
      // A small window, so that messages are left in the queue for the next instance.
      let current = await instance('0', server.url!, account, 8);
      for (const [at, part] of [0, 1, 2, 3].entries()) {
        const before = account.done.length;
        const next = await instance(`${at + 1}`, server.url!, account, 8);
        ends.push(() => next.close());
        await publish(
          server,
          all.filter(({ n }) => Math.floor(n / 4) === part),
        );
        await expect.poll(() => account.done.length).toBeGreaterThan(before);
        await current.close();
        current = next;
      }
      await expect.poll(() => account.done.length, { timeout: 8_000 }).toBe(all.length);
      expect(account.overlaps).toEqual([]);
      for (const name of names) expect(ofKey(account, name)).toEqual(Array.from({ length: perKey }, (_, n) => n));
      expect(new Set(account.done.map(({ by }) => by)).size).toBeGreaterThan(1);
    });

    it('does not start on a queue that exists without x-single-active-consumer', async () => {
      const server = await world();
      await server.backend.declare(topologyOf(queueNamed('work')));
      await expect(instance('one', server.url!, new Account())).rejects.toThrow(/x-single-active-consumer/);
    });
  });
}
