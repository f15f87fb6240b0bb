import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EmbeddedBackend } from '../../libs/dlx-broker/src/backend/index.js';
import { move, type MoveFlags } from '../../libs/dlx-broker/src/cli/move/index.js';
import {
  type FieldTable,
  int32,
  int64,
  longstr,
  type Properties,
  table,
} from '../../libs/dlx-broker/src/message/index.js';
import { openBroker } from '../../libs/dlx-broker/src/open-broker.js';
import { serve, type Served } from '../../libs/dlx-broker/src/serve.js';
import { ManagementClient } from '../contract/management-client.js';
import type { WireChannel } from '../contract/wire/channel.js';
import { WireConnection, type WireOptions } from '../contract/wire/connection.js';
import { queueNamed, topologyOf } from '../harnesses/declared.js';

const realAmqp = process.env['AMQP_URL'];
const realApi = process.env['RABBITMQ_MANAGEMENT_URL'];
const isReal = realAmqp !== undefined && realApi !== undefined;
if (!isReal) console.warn('SKIPPED: move to and from RabbitMQ: no RABBITMQ_MANAGEMENT_URL and AMQP_URL');
const library = resolve(import.meta.dirname, '../../libs/dlx-broker');
const isBuilt = existsSync(join(library, 'dist/cli/main.js')) || process.env['CI'] !== undefined;
if (!isBuilt) console.warn('SKIPPED: a move that is killed: the library is not built');

const folder = mkdtempSync(join(tmpdir(), 'move-servers-'));
const vhost = `dlx-move-${process.pid}-${Date.now().toString(36)}`;

let served: Served;
let ours: WireOptions;
const api = (): ManagementClient => new ManagementClient(realApi as string, 'guest', 'guest');
beforeAll(async () => {
  served = await serve({ amqp: { host: '127.0.0.1', port: 0 }, virtualHosts: [vhost] });
  served.broker.access.setPermissions('guest', vhost, { configure: '.*', write: '.*', read: '.*' });
  ours = { host: '127.0.0.1', port: served.amqp.port, user: 'guest', password: 'guest', vhost };
  if (!isReal) return;
  await api().call('PUT', `/vhosts/${vhost}`, {});
  await api().call('PUT', `/permissions/${vhost}/guest`, { configure: '.*', write: '.*', read: '.*' });
});
afterAll(async () => {
  await served.close();
  if (isReal) await api().call('DELETE', `/vhosts/${vhost}`);
  rmSync(folder, { recursive: true, force: true });
});

const real = (): WireOptions => {
  const { hostname: host, port } = new URL(realAmqp as string);
  return { ...ours, host, port: Number(port) || 5672 };
};
const urlOf = ({ host, port, user, password, vhost }: WireOptions): string =>
  `amqp://${user}:${password}@${host}:${port}/${encodeURIComponent(vhost)}`;

/** A connection to a server, for the arrangement of a test. */
async function on<T>(wire: WireOptions, work: (channel: WireChannel) => Promise<T>): Promise<T> {
  const connection = await WireConnection.open(wire);
  try {
    return await work(await connection.openChannel());
  } finally {
    await connection.close();
  }
}

const declare = (wire: WireOptions, queue: string, args: FieldTable = new Map()): Promise<unknown> =>
  on(wire, async (channel) => {
    await channel.call('queue.delete', { queue });
    await channel.call('queue.declare', { queue, durable: true, arguments: args });
  });

const fill = (wire: WireOptions, queue: string, messages: readonly (readonly [Properties, string])[]) =>
  on(wire, async (channel) => {
    await channel.call('confirm.select', {});
    const outstanding = new Set(messages.keys());
    const confirmed = new Promise<void>((resolve) => {
      channel.listener = ({ name, args }) => {
        if (name !== 'basic.ack') return;
        const tag = args['deliveryTag'] as number;
        for (const index of outstanding)
          if (args['multiple'] === true ? index < tag : index === tag - 1) outstanding.delete(index);
        if (outstanding.size === 0) resolve();
      };
    });
    for (const [properties, body] of messages) channel.publish({ key: queue }, properties, Buffer.from(body));
    await confirmed;
  });

/** Takes everything out of a queue. */
const drain = (wire: WireOptions, queue: string) =>
  on(wire, async (channel) => {
    const all = [];
    for (;;) {
      const got = await channel.call('basic.get', { queue, noAck: true });
      if (got.name !== 'basic.get-ok') return all;
      const { args, properties, body } = got as unknown as Content;
      all.push({ key: args['key'] as string, properties, body: String(body) });
    }
  });

interface Content {
  readonly args: Readonly<Record<string, unknown>>;
  readonly properties: Properties;
  readonly body: Buffer;
}

async function run(flags: Partial<MoveFlags>) {
  const errors: string[] = [];
  const output = { env: {}, error: (text: string) => void errors.push(text.replace('dlx-broker: ', '')) };
  return { code: await move({ queue: 'q', ...flags }, output), errors };
}

const ids = (count: number): string[] => Array.from({ length: count }, (_, index) => `m${index}`);
const numbered = (count: number) => ids(count).map((messageId) => [{ deliveryMode: 2, messageId }, messageId] as const);
const sorted = (list: readonly { readonly properties: Properties }[]) =>
  list.map(({ properties }) => properties.messageId).sort();

/** Nothing in them is as a broker or a library would write it. */
const strange: Properties = {
  deliveryMode: 2,
  messageId: 'strange',
  priority: 3,
  type: 'ü',
  timestamp: 5,
  expiration: '600000',
  headers: new Map([
    ['__proto__', longstr('mine')],
    ['x-death', longstr('forged')],
    ['CC', { type: 'A', value: [longstr('other')] }],
    ['small', int32(5)],
    ['wide', int64(5)],
    ['half', { type: 'd', value: 3 }],
    ['deep', table(new Map([['__proto__', int32(1)]]))],
  ]),
};

const pairs: readonly (readonly [string, () => WireOptions, () => WireOptions, boolean])[] = [
  ['a listener to RabbitMQ', () => ours, real, true],
  ['RabbitMQ to a listener', real, () => ours, true],
  ['RabbitMQ to RabbitMQ', real, real, true],
  ['a listener to a listener', () => ours, () => ours, false],
];

describe.each(pairs)('move from %s', (_, from, to, needsReal) => {
  describe.skipIf(needsReal && !isReal)('moves', () => {
    beforeEach(async () => {
      await declare(from(), 'q');
      for (const queue of ['r', 'other']) await declare(to(), queue);
    });
    const both = () => ({ from: urlOf(from()), to: urlOf(to()), toQueue: 'r' });

    it('every message in its order, with its key and forged headers', async () => {
      await fill(from(), 'q', [...numbered(300), [strange, 'body']]);
      for (const queue of ['other']) await declare(from(), queue); // the CC sent a copy there
      await declare(to(), 'other');
      const { code, errors } = await run(both());
      expect([code, errors.at(-1)?.slice(0, 9)]).toEqual([0, '301 moved']);
      const moved = await drain(to(), 'r');
      expect(moved.map(({ body }) => body)).toEqual([...ids(300), 'body']);
      expect(moved.at(-1)).toEqual({ key: 'q', properties: strange, body: 'body' });
      expect(await drain(to(), 'other')).toEqual([]);
      expect(await drain(from(), 'q')).toEqual([]);
    });

    it('up to a limit, at a rate, and without its deaths', async () => {
      await fill(from(), 'q', [[strange, 'first'], ...numbered(9)]);
      const began = performance.now();
      expect(await run({ ...both(), limit: '5', rate: '50', stripDeaths: true })).toMatchObject({ code: 0 });
      expect(performance.now() - began).toBeGreaterThan(78);
      const [first, ...others] = await drain(to(), 'r');
      expect([first?.properties.headers?.has('x-death'), others.length]).toEqual([false, 4]);
      expect(await drain(from(), 'q')).toHaveLength(5);
    });

    it('nothing to a queue that is not there', async () => {
      await fill(from(), 'q', numbered(1));
      await expect(run({ ...both(), toQueue: 'missing' })).rejects.toThrow(/NOT_FOUND - no queue 'missing'/);
      expect(await drain(from(), 'q')).toHaveLength(1);
    });

    it('no more than a full queue takes, and the rest when there is room', async () => {
      const full: FieldTable = new Map([
        ['x-max-length', int32(3)],
        ['x-overflow', longstr('reject-publish')],
      ]);
      await declare(to(), 'r', full);
      await fill(from(), 'q', numbered(20));
      const errors: string[] = [];
      let stop = (): void => undefined;
      setTimeout(() => stop(), 400);
      const code = await move(
        { queue: 'q', ...both() },
        { env: {}, error: (text) => void errors.push(text) },
        (given) => (stop = given),
      );
      expect(code).toBe(75);
      expect(errors.at(-1)).toContain('refuses messages: it is full');
      const taken = await drain(to(), 'r');
      expect(taken.length).toBeGreaterThanOrEqual(3);
      await declare(to(), 'r');
      expect(await run(both())).toMatchObject({ code: 0 });
      expect([...sorted(taken), ...sorted(await drain(to(), 'r'))].sort()).toEqual(ids(20).sort());
    });
  });
});

describe('a move', () => {
  it('is refused in one line when the server is not there, or does not let the user in', async () => {
    const nowhere = 'amqp://127.0.0.1:1';
    await expect(run({ from: nowhere, to: folder })).rejects.toThrow();
    await expect(run({ from: urlOf(ours), to: nowhere })).rejects.toThrow(/cannot connect to 127\.0\.0\.1:1/);
    const wrong = urlOf({ ...ours, password: 'secret' });
    await expect(run({ from: nowhere, to: wrong })).rejects.toThrow(/ACCESS_REFUSED|refused/);
    await expect(run({ from: nowhere, to: wrong })).rejects.not.toThrow(/secret/);
  });

  it('says what to do about a user id of another user', async () => {
    await declare(ours, 'q');
    await declare(ours, 'r');
    const directory = join(folder, 'user-id');
    await filled(directory, [[{ deliveryMode: 2, userId: 'ada', messageId: 'a' }, 'a']]);
    const { code, errors } = await run({ from: directory, to: urlOf(ours) });
    expect(code).toBe(75);
    expect(errors.join('\n')).toContain("Give user 'guest' the tag impersonator");
    expect(await countIn(directory)).toBe(1);
  });
});

/** A data directory with a queue `q`. */
async function filled(directory: string, messages: readonly (readonly [Properties, string])[]): Promise<void> {
  const own = await openBroker({ data: { directory } }, {});
  const backend = new EmbeddedBackend(own.broker);
  await backend.declare(topologyOf(queueNamed('q')));
  const publish = ([properties, body]: readonly [Properties, string]): Promise<void> =>
    new Promise((resolve, reject) =>
      backend.publish({ exchange: '', routingKey: 'q', properties, body: Buffer.from(body) }, (failure) =>
        failure ? reject(failure) : resolve(),
      ),
    );
  await Promise.all(messages.map(publish));
  await backend.close();
  await own.close();
}

async function countIn(directory: string): Promise<number> {
  const own = await openBroker({ data: { directory } }, {});
  const { length } = own.broker.virtualHost('/').queues.get('q') as { length: number };
  await own.close();
  return length;
}

describe('delayed messages of a data directory', () => {
  /** A directory with a message that waits, two that are delayed, and two that must stay. */
  async function directoryWithDelayed(): Promise<string> {
    const directory = mkdtempSync(join(folder, 'delayed-'));
    const own = await openBroker({ data: { directory } }, {});
    const backend = new EmbeddedBackend(own.broker);
    const news = { name: 'news', type: 'fanout', durable: true, autoDelete: false, internal: false };
    const bound = { source: 'news', destinationType: 'queue', routingKey: '', arguments: new Map() } as const;
    await backend.declare({
      exchanges: [{ ...news, arguments: new Map() }],
      queues: [queueNamed('q'), queueNamed('r')],
      bindings: ['q', 'r'].map((destination) => ({ ...bound, destination })),
    });
    const publish = (exchange: string, delay: number, properties: Properties): Promise<void> =>
      new Promise((resolve, reject) => {
        const content = { properties: { deliveryMode: 2, ...properties }, body: Buffer.from('body') } as const;
        const done = (failure?: Error): void => (failure ? reject(failure) : resolve());
        const publication = { exchange, routingKey: 'q', ...content };
        if (delay === 0) backend.publish(publication, done);
        else backend.delayed.publish(publication, delay, done);
      });
    const headers: FieldTable = new Map([['mine', longstr('yes')]]);
    await publish('', 1_600, { messageId: 'second', headers });
    await publish('', 1_200, { messageId: 'first' });
    await publish('', 0, { messageId: 'ready' });
    await publish('', 60_000, { messageId: 'expiring', expiration: '5' });
    await publish('news', 60_000, { messageId: 'shared' });
    await backend.close();
    await own.close();
    return directory;
  }

  it.each([
    ['a listener', () => ours, true],
    ['RabbitMQ', real, isReal],
  ] as const)('arrive on %s when they are due, and no earlier', async (_, wire, isThere) => {
    if (!isThere) return;
    await declare(wire(), 'q');
    const began = Date.now();
    const directory = await directoryWithDelayed();
    const { code, errors } = await run({ from: directory, to: urlOf(wire()) });
    expect(code).toBe(0);
    expect(errors.at(-1)).toMatch(/^3 moved/);
    const said = errors.join('\n');
    expect(said).toMatch(/1 delayed messages of exchange 'news.delayed' stay: they go to other queues than 'q', too/);
    expect(said).toMatch(/1 delayed messages of exchange 'dlx.delayed' stay: on the other side/);
    expect(said).toMatch(/delayed messages wait in queue 'dlx-broker.move.q.delayed./);
    const arrived: { readonly id: string | undefined; readonly at: number }[] = [];
    while (arrived.length < 3) {
      for (const { properties } of await drain(wire(), 'q'))
        arrived.push({ id: properties.messageId, at: Date.now() - began });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(arrived.map(({ id }) => id)).toEqual(['ready', 'first', 'second']);
    expect(arrived[1]?.at).toBeGreaterThanOrEqual(1_200);
    expect(arrived[2]?.at).toBeGreaterThanOrEqual(1_600);
    expect((await run({ from: directory, to: urlOf(wire()) })).errors.at(-1)).toMatch(/^0 moved/);
  });
});

describe.skipIf(!isBuilt)('a move that is killed', () => {
  const children: ChildProcess[] = [];
  afterEach(() => children.splice(0).forEach((child) => child.kill('SIGKILL')));

  /** Runs the command, and kills it once so many messages are in the target. */
  async function killedAfter(words: readonly string[], isEnough: () => Promise<boolean>): Promise<void> {
    const child = spawn(process.execPath, [join(library, 'bin/dlx-broker.js'), 'move', ...words], { stdio: 'ignore' });
    children.push(child);
    const ended = once(child, 'exit');
    while (child.exitCode === null && !(await isEnough())) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(child.exitCode).toBeNull();
    child.kill('SIGKILL');
    await ended;
  }

  const lengthOf = async (queue: string): Promise<number> =>
    served.broker.virtualHosts.get(vhost)?.queues.get(queue)?.length ?? 0;

  it.each(['a data directory', 'a listener'])(
    'from %s loses nothing, and names what may be there twice',
    async (kind) => {
      const count = 3_000;
      await declare(ours, 'r');
      await declare(ours, 'q');
      const directory = join(folder, `killed-${kind.length}`);
      const isDirectory = kind === 'a data directory';
      if (isDirectory) await filled(directory, numbered(count));
      else await fill(ours, 'q', numbered(count));
      const flags = { from: isDirectory ? directory : urlOf(ours), to: urlOf(ours), toQueue: 'r' };
      const words = ['--from', flags.from, '--to', flags.to, '--to-queue', 'r', '--queue', 'q'];
      await killedAfter([...words, '--rate', '2000'], async () => (await lengthOf('r')) >= 500);
      const { code, errors } = await run(flags);
      expect(code).toBe(0);
      const arrived = sorted(await drain(ours, 'r'));
      expect([...new Set(arrived)].sort()).toEqual(ids(count).sort());
      const twice = arrived.filter((id, index) => arrived[index - 1] === id);
      const named = errors.filter((line) => line.includes('had been delivered before'));
      for (const id of twice) expect(named.some((line) => line.startsWith(`message '${id}' `))).toBe(true);
      // Those of the window at most: 100 on their way, and 32 asked for.
      expect(named.length).toBeLessThanOrEqual(132);
      console.info(`killed from ${kind}: ${twice.length} of ${count} twice, ${named.length} named`);
    },
  );
});
