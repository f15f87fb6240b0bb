import { request } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Channel, silentOutbox } from '../../engine/broker/index.js';
import { toFieldTable } from '../../engine/message/index.js';
import { type ApiHarness, apiHarness } from '../../../../../test/harnesses/api-harness.js';
import { declareDying } from '../../../../../test/harnesses/dying.js';
import { listenHttp } from '../http/http-listener.js';
import { Dlx } from './state.js';
import { eventLoop, type Turns } from '../http/turns.js';

const nothing = (): void => {};
const authorization = `Basic ${Buffer.from('guest:guest').toString('base64')}`;

interface Event {
  readonly event: string;
  readonly data: { queues: Record<string, unknown>[]; gone: unknown[]; redrives: Record<string, unknown>[] };
}

/** An event is made in one turn, however slow the machine is: the clock of the tests moves without waiting for a second one. */
const oneTurn: Turns = { now: () => 0, next: () => eventLoop.next() };

/** Reads events one by one; undefined at the end. */
class Reader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;

  constructor(response: Response) {
    this.#reader = response.body!.getReader();
  }

  async text(): Promise<string | undefined> {
    const { value } = await this.#reader.read();
    return value && Buffer.from(value).toString();
  }

  async next(): Promise<Event | undefined> {
    const text = await this.text();
    if (text === undefined) return undefined;
    const [, event, data] = /^event: (\w+)\ndata: (.*)\n\n$/.exec(text)!;
    return { event: event!, data: JSON.parse(data!) as Event['data'] };
  }

  cancel(): Promise<void> {
    return this.#reader.cancel();
  }
}

describe('/api/dlx/events', () => {
  let rooms: ApiHarness;
  let channel: Channel;
  let dlx: Dlx;

  beforeEach(() => {
    rooms = apiHarness();
    dlx = new Dlx({ broker: rooms.broker, turns: oneTurn });
    const { api, broker } = apiHouseWith(dlx);
    rooms = { ...rooms, api, broker };
    channel = broker.connect().openChannel(silentOutbox);
    declareDying(channel, ['work']);
  });

  const apiHouseWith = (lent: Dlx): ApiHarness => {
    const made = apiHarness({ host: { dlx: lent, broker: rooms.broker } });
    return { ...made, broker: rooms.broker };
  };
  const ask = async (query = '', as = authorization): Promise<Response> => {
    const url = `/api/dlx/events${query}`;
    const headers = { host: 'localhost', authorization: as };
    const incoming = { url, socket: { remoteAddress: '127.0.0.1' } };
    return rooms.api.fetch(new Request(`http://localhost${url}`, { headers }), { incoming } as never);
  };
  const listen = async (query = ''): Promise<Reader> => {
    const response = await ask(query);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    return new Reader(response);
  };
  const publish = (key: string): void => void channel.publish('', key, {}, Buffer.from('x'));
  const reject = (): void => channel.reject(channel.get('work')!.deliveryTag, false);

  it('tells everything once, and then only what changed', async () => {
    publish('work');
    const reader = await listen('?interval=500');
    const first = await reader.next();
    expect(first).toMatchObject({ event: 'state', data: { gone: [], redrives: [] } });
    expect(first!.data.queues).toEqual([
      expect.objectContaining({ vhost: '/', name: 'dead', messages_ready: 0 }),
      expect.objectContaining({ name: 'work', messages_ready: 1, messages_unacknowledged: 0, rejected: 0 }),
    ]);
    rooms.clock.advance(500);
    publish('work');
    reject();
    rooms.clock.advance(500);
    expect(await reader.next()).toMatchObject({
      event: 'change',
      data: {
        queues: [
          { name: 'dead', messages_ready: 1, dead_letters_in: 1 },
          { name: 'work', messages_ready: 1, rejected: 1 },
        ],
      },
    });
    channel.deleteQueue('dead');
    publish('work');
    rooms.clock.advance(500);
    expect(await reader.next()).toMatchObject({
      data: { gone: [{ vhost: '/', name: 'dead' }], queues: [{ name: 'work', messages_ready: 2 }] },
    });
    await reader.cancel();
    expect(dlx.streams.count).toBe(0);
  });

  it('has the oldest dead letter of each queue of dead letters, and a change of nothing else', async () => {
    publish('work');
    reject();
    const died = rooms.clock.now();
    rooms.clock.advance(10_000);
    const reader = await listen('?queue=dead');
    expect((await reader.next())!.data.queues).toMatchObject([{ name: 'dead', messages_ready: 1, oldest: died }]);
    // Another message takes its place: no counter of the queue shows it.
    const headers = toFieldTable({ 'dlx-parked': true, 'dlx-failing-since': died - 60_000 });
    channel.publish('', 'dead', { headers }, Buffer.from('x'));
    channel.get('dead', { noAck: true });
    rooms.clock.advance(1_000);
    expect((await reader.next())!.data.queues).toMatchObject([{ messages_ready: 1, oldest: died - 60_000 }]);
    channel.get('dead', { noAck: true });
    rooms.clock.advance(1_000);
    expect((await reader.next())!.data.queues).toMatchObject([{ messages_ready: 0, oldest: null }]);
    await reader.cancel();
  });

  it('tells how redrives go', async () => {
    for (let count = 0; count < 30; count++) publish('work');
    for (let count = 0; count < 30; count++) reject();
    const vhost = rooms.broker.virtualHost('/');
    const queue = vhost.queues.get('dead')!;
    const reader = await listen();
    await reader.next();
    dlx.redrives.start({ vhost, queue, user: undefined, by: 'ann', rate: 10, dryRun: false });
    rooms.clock.advance(1_000);
    expect((await reader.next())!.data.redrives).toMatchObject([{ state: 'running', moved: 10 }]);
    rooms.clock.advance(10_000);
    // The client read nothing for ten seconds: all changes are in one event.
    expect((await reader.next())!.data.redrives).toMatchObject([{ state: 'running', moved: 20 }]);
    rooms.clock.advance(1_000);
    expect((await reader.next())!.data.redrives).toMatchObject([{ state: 'done', moved: 30 }]);
  });

  it('buffers nothing for a client that does not read, and disconnects it after half a minute', async () => {
    const reader = await listen('?interval=100');
    for (let tenth = 0; tenth < 299; tenth++) {
      publish('work');
      rooms.clock.advance(100);
    }
    expect(dlx.streams.count).toBe(1);
    rooms.clock.advance(200);
    expect(dlx.streams.count).toBe(0);
    expect(await reader.next()).toMatchObject({ event: 'state' });
    expect(await reader.text()).toBeUndefined();
  });

  it('says something in a quarter of a minute, so that a connection that is gone is noticed', async () => {
    const reader = await listen();
    await reader.next();
    rooms.clock.advance(14_999);
    const next = reader.text();
    rooms.clock.advance(1);
    expect(await next).toBe(':\n\n');
  });

  it('tells of one virtual host, or of certain queues', async () => {
    rooms.broker.addVirtualHost('other');
    rooms.broker.connect({ vhost: 'other' }).openChannel(silentOutbox).declareQueue('there', {});
    const names = async (query: string) => (await (await listen(query)).next())!.data.queues.map(({ name }) => name);
    expect(await names('')).toEqual(['dead', 'work', 'there']);
    expect(await names('?vhost=other')).toEqual(['there']);
    expect(await names('?queue=work&queue=none&queue=there')).toEqual(['work', 'there']);
    expect((await ask('?vhost=none')).status).toBe(404);
    expect((await ask('?interval=10')).status).toBe(400);
  });

  it('shows what the user may see, and ends when there is no such user any more', async () => {
    const { access } = rooms.broker;
    access.setUser('eve', { tags: ['management'], passwordHash: access.user('guest')!.passwordHash });
    access.setPermissions('eve', '/', { configure: '', write: '', read: '' });
    const response = await ask('', `Basic ${Buffer.from('eve:guest').toString('base64')}`);
    const reader = new Reader(response);
    expect((await reader.next())!.data.queues).toHaveLength(2);
    access.deletePermissions('eve', '/');
    rooms.clock.advance(1_000);
    expect((await reader.next())!.data).toMatchObject({ queues: [], gone: [{ name: 'dead' }, { name: 'work' }] });
    access.deleteUser('eve');
    rooms.clock.advance(1_000);
    expect(await reader.text()).toBeUndefined();
  });

  it('has room for eight of a user', async () => {
    const readers = await Promise.all(Array.from({ length: 8 }, () => listen()));
    expect((await ask()).status).toBe(429);
    await readers[0]!.cancel();
    expect((await ask()).status).toBe(200);
  });

  it('notices over a port that a client has gone', async () => {
    const listener = await listenHttp({ ...rooms.host, dlx }, { port: 0 });
    const { host, port } = listener;
    const client = request({ host, port, path: '/api/dlx/events', headers: { authorization } });
    client.on('error', nothing);
    client.end();
    await new Promise((resolve) => client.on('response', (answer) => answer.once('data', resolve)));
    expect(dlx.streams.count).toBe(1);
    client.destroy();
    const deadline = performance.now() + 60_000;
    while (dlx.streams.count > 0 && performance.now() < deadline) await eventLoop.next();
    expect(dlx.streams.count).toBe(0);
    await listener.close();
  });

  it('ends cleanly over a port when the listener closes', async () => {
    const listener = await listenHttp(rooms.host, { port: 0 });
    const { host, port } = listener;
    const ended = new Promise<string>((resolve, reject) => {
      const client = request(
        { host, port, path: '/api/dlx/events?interval=100', headers: { authorization } },
        (answer) => {
          let all = '';
          answer.on('data', (bytes: Buffer) => {
            if (all === '') void listener.close();
            all += bytes.toString();
          });
          answer.on('end', () => resolve(all));
          answer.on('error', reject);
        },
      );
      client.on('error', reject);
      client.end();
    });
    expect(await ended).toMatch(/^event: state\ndata: .*\n\n$/);
  });
});
