import { describe, expect, it } from 'vitest';
import { silentOutbox } from '../../engine/broker/index.js';
import { toFieldTable } from '../../engine/message/index.js';
import { Dlx } from './state.js';
import { longestTurn, type Turns } from '../http/turns.js';
import { apiHarness } from '../../../../../test/harnesses/api-harness.js';

type Line = Record<string, unknown>;

/** Turns that count the pauses, and whose time passes by one millisecond with each look. */
class CountedTurns implements Turns {
  pauses = 0;
  #time = 0;

  now(): number {
    return (this.#time += 1);
  }

  next(): Promise<void> {
    this.pauses++;
    return new Promise((resolve) => setImmediate(resolve));
  }
}

/** Many turns of the event loop pass. */
async function otherWork(): Promise<void> {
  for (let n = 0; n < 100; n++) await new Promise((resolve) => setImmediate(resolve));
}

function arrange() {
  const own = apiHarness();
  const turns = new CountedTurns();
  const dlx = new Dlx({ broker: own.broker, turns });
  const { api, call } = apiHarness({ host: { broker: own.broker, dlx } });
  const channel = own.broker.connect().openChannel(silentOutbox);
  channel.declareQueue('dead');
  const publish = (body: string | Uint8Array, headers = {}): void =>
    void channel.publish('', 'dead', { headers: toFieldTable(headers) }, Buffer.from(body));
  const ask = (
    query = '',
    { method = 'GET', path = 'export', signal = new AbortController().signal } = {},
  ): Promise<Response> => {
    const url = `/api/dlx/queues/%2F/dead/${path}${query}`;
    const headers = { authorization: `Basic ${btoa('guest:guest')}` };
    const request = new Request(`http://localhost${url}`, { method, headers, signal });
    return Promise.resolve(api.fetch(request, { incoming: { url, socket: { remoteAddress: '127.0.0.1' } } } as never));
  };
  const lines = async (query = ''): Promise<readonly Line[]> => {
    const answer = await ask(query);
    const text = await answer.text();
    expect(answer.status, text).toBe(200);
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line);
  };
  const payloads = async (query = ''): Promise<unknown[]> => (await lines(query)).map(({ payload }) => payload);
  const queue = own.broker.virtualHost('/').queues.get('dead')!;
  return { ...own, call, turns, dlx, channel, publish, ask, lines, payloads, queue };
}

describe('GET /api/dlx/queues/{vhost}/{name}/export', () => {
  it('writes each message as a line, as one message is shown, and changes nothing', async () => {
    const { call, publish, ask, lines, queue } = arrange();
    for (let n = 1; n <= 3; n++) publish(`body ${n}\n"`, { n, __proto__x: 'x'.repeat(5_000) });
    const { headers } = await ask('', { method: 'HEAD' });
    expect(headers.get('content-type')).toBe('application/x-ndjson');
    expect(headers.get('content-disposition')).toContain('attachment');
    const all = await lines();
    expect(all.map(({ id }) => id)).toEqual(['1', '2', '3']);
    expect(all[1]).toEqual((await call('GET', '/dlx/queues/%2F/dead/messages/2')).body);
    expect([queue.length, queue.counters.get, queue.find(1)?.returns]).toEqual([3, 0, 0]);
  });

  it('selects by a filter, by ids, and up to a limit', async () => {
    const { publish, payloads, queue } = arrange();
    for (let n = 1; n <= 200; n++) publish(`${n}`, { even: n % 2 === 0 });
    expect(await payloads('?limit=3')).toEqual(['1', '2', '3']);
    expect(await payloads('?header=even%3Dtrue&limit=2')).toEqual(['2', '4']);
    expect(await payloads('?header=even%3Dtrue')).toHaveLength(100);
    expect(await payloads('?text=200')).toEqual(['200']);
    queue.withdraw(queue.find(7)!, 0);
    expect(await payloads('?ids=9,7,3,9')).toEqual(['9', '3']);
    expect(await payloads('?limit=200')).toHaveLength(199);
  });

  it('writes bytes as base64, and long bodies in pieces', async () => {
    const { publish, lines } = arrange();
    const long = Buffer.alloc(1_500_001, 'ab\n');
    publish(Buffer.from([255, 0]));
    publish(long);
    const [bytes, text] = await lines();
    expect(bytes).toMatchObject({ payload: '/wA=', payload_encoding: 'base64' });
    expect(text).toMatchObject({ payload_encoding: 'base64', payload_bytes: long.length, payload_truncated: false });
    expect(Buffer.from(text!['payload'] as string, 'base64').equals(long)).toBe(true);
    const [, short] = await lines('?encoding=base64');
    expect(short).toMatchObject({ payload: long.toString('base64') });
  });

  it('leaves out messages that arrive after its start', async () => {
    const { publish, ask } = arrange();
    for (let n = 1; n <= 100; n++) publish(`${n}`);
    const answer = await ask();
    const reader = answer.body!.getReader();
    await reader.read();
    publish('late');
    let rest = '';
    for (let part = await reader.read(); !part.done; part = await reader.read())
      rest += Buffer.from(part.value).toString();
    expect(rest).not.toContain('late');
  });

  it('makes no more than its client reads, in many turns', async () => {
    const { publish, ask, turns } = arrange();
    for (let n = 0; n < 2_000; n++) publish('x'.repeat(1_000));
    const answer = await ask();
    await otherWork();
    const before = turns.pauses;
    await otherWork();
    expect(turns.pauses).toBe(before); // nothing is read, so nothing is made
    const text = await answer.text();
    expect(text.split('\n')).toHaveLength(2_001);
    expect(turns.pauses - before).toBeGreaterThan(2_000 / longestTurn / 2);
  });

  it('leaves out a message that left while its client read slowly', async () => {
    const { call, channel, publish, ask } = arrange();
    for (let n = 1; n <= 12; n++) publish(`${n} `.padEnd(70_000, 'x'));
    const answer = await ask();
    const reader = answer.body!.getReader();
    let text = '';
    const read = async (): Promise<boolean> => {
      const { done, value } = await reader.read();
      text += done ? '' : Buffer.from(value).toString();
      return !done;
    };
    await read();
    await otherWork();
    // One is deleted, one is in hand, and one was in hand.
    expect((await call('DELETE', '/dlx/queues/%2F/dead/messages/9')).status).toBe(204);
    for (let n = 0; n < 3; n++) channel.get('dead');
    channel.ack(1);
    channel.nack(2, false, true);
    while (await read());
    const ids = text
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as Line)['id']);
    expect(ids).not.toContain('9');
    expect(ids.slice(-7)).toEqual(['5', '6', '7', '8', '10', '11', '12']);
  });

  it('ends with its client', async () => {
    const { publish, ask } = arrange();
    for (let n = 0; n < 2_000; n++) publish('x'.repeat(1_000));
    const abort = new AbortController();
    const answer = await ask('', { signal: abort.signal });
    const reader = answer.body!.getReader();
    await reader.read();
    abort.abort();
    await expect(reader.read().then(() => reader.read())).rejects.toThrow('ended before its work did');
  });

  it('has each message at most once, and every one that stays, while 10,000 arrive and go', async () => {
    const { broker, publish, ask, channel } = arrange();
    for (let n = 0; n < 5_000; n++) publish(String(n));
    const queue = broker.virtualHost('/').queues.get('dead')!;
    const response = await ask('', { path: 'messages.ndjson' });
    const ids: number[] = [];
    let rest = '';
    let arrived = 5_000;
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
      const lines = (rest + Buffer.from(piece).toString()).split('\n');
      rest = lines.pop()!;
      for (const line of lines) ids.push(Number((JSON.parse(line) as Line)['id']));
      // At its head some go for good and some come back, and as many arrive at its tail.
      for (let n = 0; n < 400 && arrived < 10_000; n++, arrived++) {
        const got = channel.get('dead')!;
        if (n % 2 === 0) channel.ack(got.deliveryTag);
        else channel.nack(got.deliveryTag, false, true);
        publish(String(arrived));
      }
    }
    expect(rest).toBe('');
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(ids.toSorted((one, other) => one - other));
    expect(Math.max(...ids)).toBe(5_000);
    // What was there at the start and is there at the end is in the export.
    const staying: number[] = [];
    queue.peek(({ position }) => void (position <= 5_000 && staying.push(position)));
    expect(staying.length).toBeGreaterThan(1_000);
    expect(staying.filter((id) => !ids.includes(id))).toEqual([]);
  });

  it.each(['', '?ids=1,2,3'])('breaks off when its queue is deleted, and does not seem complete: %j', async (query) => {
    const { channel, publish, ask } = arrange();
    for (let n = 0; n < 200; n++) publish('x'.repeat(70_000));
    const answer = await ask(query);
    const reader = answer.body!.getReader();
    await reader.read();
    channel.deleteQueue('dead');
    const rest = async (): Promise<void> => {
      while (!(await reader.read()).done);
    };
    await expect(rest()).rejects.toThrow('Not Found');
  });

  it('breaks off when it is closed while a piece is made', async () => {
    const { publish, ask } = arrange();
    for (let n = 0; n < 2_000; n++) publish('x'.repeat(1_000));
    const abort = new AbortController();
    const answer = await ask('', { signal: abort.signal });
    const text = answer.text();
    await new Promise((resolve) => setImmediate(resolve));
    abort.abort();
    await expect(text).rejects.toThrow('ended before its work did');
  });

  it('breaks off when its user may not read on', async () => {
    const { broker, publish, ask } = arrange();
    for (let n = 0; n < 2_000; n++) publish('x'.repeat(1_000));
    const answer = await ask();
    broker.access.setPermissions('guest', '/', { configure: '.*', write: '.*', read: '^$' });
    await expect(answer.text()).rejects.toThrow(/ACCESS_REFUSED/);
    expect((await ask()).status).toBe(401);
  });

  it.each(['ids=x', 'ids=', 'ids=1&reason=expired', 'limit=0', 'page=1', 'encoding=hex'])(
    'refuses ?%s',
    async (query) => {
      const { ask } = arrange();
      expect((await ask(`?${query}`)).status).toBe(400);
    },
  );
});
