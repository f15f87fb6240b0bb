import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Clock, silentOutbox } from '../../libs/dlx-broker/src/broker/index.js';
import { move, type MoveFlags } from '../../libs/dlx-broker/src/cli/move/index.js';
import { EmbeddedBackend, type Publication } from '../../libs/dlx-broker/src/backend/index.js';
import { type FieldTable, int32, longstr, type Properties, table } from '../../libs/dlx-broker/src/message/index.js';
import { openBroker } from '../../libs/dlx-broker/src/open-broker.js';
import type { QueueDeclaration } from '../../libs/dlx-broker/src/topology/index.js';
import { queueNamed as queue } from '../harnesses/declared.js';

const folder = mkdtempSync(join(tmpdir(), 'move-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let directories = 0;

/** A new data directory with a queue and messages in it. */
async function directoryWith(
  declared: readonly QueueDeclaration[],
  messages: readonly Publication[] = [],
  clock?: Clock,
): Promise<string> {
  const directory = join(folder, `data-${++directories}`);
  const fill = async (backend: EmbeddedBackend): Promise<void> => {
    await backend.declare({ exchanges: [], queues: declared, bindings: [] });
    await Promise.all(messages.map((message) => published(backend, message)));
  };
  await within(directory, fill, clock);
  return directory;
}

/** A time long ago, at which nothing happens. */
const longAgo: Clock = { now: () => 1_000, wakeAt: () => undefined };

async function within<T>(directory: string, work: (backend: EmbeddedBackend) => Promise<T>, clock?: Clock): Promise<T> {
  const own = await openBroker({ clock, data: { directory } }, {});
  const backend = new EmbeddedBackend(own.broker);
  try {
    return await work(backend);
  } finally {
    await backend.close();
    await own.close();
  }
}

const published = (backend: EmbeddedBackend, message: Publication): Promise<void> =>
  new Promise((resolve, reject) => backend.publish(message, (failure) => (failure ? reject(failure) : resolve())));

const message = (id: string, properties: Properties = {}, routingKey = 'q'): Publication => ({
  exchange: '',
  routingKey,
  properties: { deliveryMode: 2, messageId: id, ...properties },
  body: Buffer.from(`body ${id}`),
});

/** The messages of a queue, in the order of delivery. */
const messagesIn = (directory: string, name = 'q') =>
  within(directory, async (backend) => {
    const { messages } = await backend.browsing.browse(name, 10_000);
    return messages.map(({ routingKey, properties, body }) => ({ routingKey, properties, body: String(body) }));
  });

const idsIn = async (directory: string, name = 'q') =>
  (await messagesIn(directory, name)).map(({ properties }) => properties.messageId);

async function run(flags: Partial<MoveFlags>) {
  const errors: string[] = [];
  const output = { env: {}, error: (text: string) => void errors.push(text.replace('dlx-broker: ', '')) };
  const code = await move({ queue: 'q', ...flags }, output);
  return { code, errors };
}

const ids = (count: number): string[] => Array.from({ length: count }, (_, index) => `m${index}`);

describe('move between data directories', () => {
  it('moves every message in its order, with keys, bodies and forged headers as they were', async () => {
    const headers: FieldTable = new Map([
      ['__proto__', longstr('mine')],
      ['x-death', longstr('forged')],
      ['CC', { type: 'A', value: [longstr('other')] }],
      ['deep', table(new Map([['n', int32(5)]]))],
    ]);
    const strange = message('strange', { headers, priority: 3, expiration: '600000', timestamp: 5, type: 'ü' });
    const from = await directoryWith([queue('q'), queue('other')], [...ids(300).map((id) => message(id)), strange]);
    const to = await directoryWith([queue('q'), queue('other')]);
    const before = await messagesIn(from);
    const { code, errors } = await run({ from, to });
    expect(code).toBe(0);
    expect(errors.at(-1)).toBe(`301 moved from queue 'q' in vhost '/' of ${from} to queue 'q' in vhost '/' of ${to}`);
    expect(await messagesIn(to)).toEqual(before);
    expect(before).toHaveLength(301);
    expect([await idsIn(from), await idsIn(to, 'other')]).toEqual([[], []]);
  });

  it('keeps the routing key also into a queue of another name, and leaves no exchange behind', async () => {
    const from = await directoryWith([queue('q')], [message('a')]);
    const to = await directoryWith([queue('r')]);
    expect(await run({ from, to, toQueue: 'r' })).toMatchObject({ code: 0 });
    expect((await messagesIn(to, 'r')).map(({ routingKey }) => routingKey)).toEqual(['q']);
    await within(to, async ({ broker }) => {
      expect([...broker.virtualHost('/').exchanges.keys()].filter((name) => name.startsWith('dlx-broker'))).toEqual([]);
    });
  });

  it('strips deaths where asked, and stops at a limit', async () => {
    const headers: FieldTable = new Map([
      ['x-death', longstr('forged')],
      ['kept', longstr('yes')],
    ]);
    const from = await directoryWith(
      [queue('q')],
      ids(5).map((id) => message(id, { headers })),
    );
    const to = await directoryWith([queue('q')]);
    expect(await run({ from, to, stripDeaths: true, limit: '2' })).toMatchObject({ code: 0 });
    expect((await messagesIn(to)).map(({ properties }) => [...(properties.headers ?? [])])).toEqual([
      [['kept', longstr('yes')]],
      [['kept', longstr('yes')]],
    ]);
    expect(await idsIn(from)).toEqual(['m2', 'm3', 'm4']);
  });

  it('lets nothing else happen: what is due, expired or leased elsewhere stays', async () => {
    const ttl: FieldTable = new Map([['x-message-ttl', int32(1)]]);
    const leased: FieldTable = new Map([['x-expires', int32(1)]]);
    const from = await directoryWith(
      [queue('q'), queue('short', ttl), queue('leased', leased)],
      [message('a'), message('b', {}, 'short')],
      longAgo,
    );
    const to = await directoryWith([queue('q')]);
    await run({ from, to });
    const look = async ({ broker }: EmbeddedBackend) =>
      [...broker.virtualHost('/').queues.values()].map(({ name, length }) => `${name} ${length}`);
    expect(await within(from, look, longAgo)).toEqual(['q 0', 'short 1', 'leased 0']);
  });

  it('ends when the target is full, gives back, and goes on when there is room', async () => {
    const full: FieldTable = new Map<string, ReturnType<typeof longstr> | ReturnType<typeof int32>>([
      ['x-max-length', int32(3)],
      ['x-overflow', longstr('reject-publish')],
    ]);
    const from = await directoryWith(
      [queue('q')],
      ids(10).map((id) => message(id)),
    );
    const to = await directoryWith([queue('q', full)]);
    const errors: string[] = [];
    const output = { env: {}, error: (text: string) => void errors.push(text) };
    let stop = (): void => undefined;
    setTimeout(() => stop(), 200);
    const code = await move({ queue: 'q', from, to }, output, (given) => (stop = given));
    expect(code).toBe(75);
    expect(errors.join('\n')).toContain('is full and refuses messages. Run the same command again to go on');
    expect(await idsIn(to)).toHaveLength(3);
    expect([...(await idsIn(from)), ...(await idsIn(to))].sort()).toEqual(ids(10));
  });

  it('moves what is delayed for its queue alone', async () => {
    const from = await directoryWith([queue('q')], [message('ready')]);
    await within(from, async (backend) => {
      const later = (id: string, delay: number): Promise<void> =>
        new Promise((resolve, reject) =>
          backend.delayed.publish(message(id), delay, (failure) => (failure ? reject(failure) : resolve())),
        );
      for (const [id, delay] of [
        ['second', 7_200_000],
        ['first', 3_600_000],
      ] as const)
        await later(id, delay);
    });
    const to = await directoryWith([queue('q')]);
    const { code, errors } = await run({ from, to });
    expect([code, errors.at(-1)?.slice(0, 7)]).toEqual([0, '3 moved']);
    expect(await idsIn(to)).toEqual(['ready']);
    const waiting = await within(to, async ({ broker }) =>
      [...broker.virtualHost('/').queues.keys()].find((name) => name.startsWith('dlx-broker.move.q.delayed.')),
    );
    const messages = await messagesIn(to, waiting);
    expect(messages.map(({ properties }) => properties.messageId)).toEqual(['first', 'second']);
    expect(Number(messages[0]?.properties.expiration)).toBeGreaterThan(3_500_000);
    expect(await run({ from, to })).toMatchObject({ code: 0, errors: [expect.stringMatching(/^0 moved/)] });
  });

  it('loses nothing where no queue for delayed messages can be declared', async () => {
    const from = await directoryWith([queue('q')]);
    const later = (backend: EmbeddedBackend, id: string): Promise<void> =>
      new Promise((resolve, reject) =>
        backend.delayed.publish(message(id), 3_600_000, (failure) => (failure ? reject(failure) : resolve())),
      );
    const delayed = ({ broker }: EmbeddedBackend) =>
      [...broker.virtualHost('/').exchanges.values()].reduce((sum, { delayed }) => sum + (delayed?.count ?? 0), 0);
    await within(from, (backend) => Promise.all(ids(3).map((id) => later(backend, id))));
    const to = await directoryWith([queue('q')]);
    await within(to, async ({ broker }) => broker.virtualHost('/').limits.set('max-queues', 1));
    const { code, errors } = await run({ from, to });
    expect(code).toBe(65);
    expect(errors.join('\n')).toMatch(/queue 'q' of .*: .*queue limit in vhost '\/' \(1\) is reached/);
    expect(await within(from, async (backend) => delayed(backend))).toBe(3);
    expect(await idsIn(to)).toEqual([]);
  });

  it('closes the directory when the exchange of a move is there with another type', async () => {
    const from = await directoryWith([queue('q')], [message('a')]);
    const to = await directoryWith([queue('q')]);
    await within(to, async ({ broker }) => {
      broker
        .connect({})
        .openChannel(silentOutbox)
        .declareExchange('dlx-broker.move.q', { type: 'direct', durable: true });
    });
    await expect(run({ from, to })).rejects.toThrow("cannot be bound to exchange 'dlx-broker.move.q'");
    expect([await idsIn(from), await idsIn(to)]).toEqual([['a'], []]);
  });

  it.each<[Partial<MoveFlags>, RegExp]>([
    [{}, /^--from must be amqp:/],
    [{ from: '/nowhere/at/all' }, /^--to must be amqp:/],
    [{ from: 'one', to: 'one' }, /^--from and --to are the same queue/],
    [{ from: 'one', to: 'two', limit: 'x' }, /^--limit must be a whole number/],
    [{ from: 'one', to: 'two', rate: '0' }, /^--rate must be a number of messages a second above 0/],
  ])('refuses %j', async (flags, why) => {
    await expect(run(flags)).rejects.toThrow(why);
  });

  it('refuses a queue that is not there, on either side, and changes nothing', async () => {
    const from = await directoryWith([queue('q')], [message('a')]);
    const to = await directoryWith([queue('r')]);
    await expect(run({ from, to })).rejects.toThrow(`no queue 'q' in vhost '/' of ${to}`);
    await expect(run({ from: to, to: from })).rejects.toThrow(`no queue 'q' in vhost '/' of ${to}`);
    await expect(run({ from, to, vhost: 'v' })).rejects.toThrow(`no virtual host 'v' in ${to}`);
    expect(await idsIn(from)).toEqual(['a']);
  });

  it('refuses a directory that is not there, on either side, and makes none', async () => {
    const there = await directoryWith([queue('q')], [message('a')]);
    const missing = join(folder, 'localhost:5672');
    const refusal = `${missing} is not there. Nothing was read or written; check the path, or write amqp://HOST:PORT/VHOST`;
    await expect(run({ from: missing, to: there })).rejects.toThrow(refusal);
    await expect(run({ from: there, to: missing })).rejects.toThrow(refusal);
    expect(existsSync(missing)).toBe(false);
    expect(await idsIn(there)).toEqual(['a']);
  });
});
