import { describe, expect, it } from 'vitest';
import type { Queue } from '../engine/broker/index.js';
import { Dlx } from './dlx/state.js';
import { SharedTurns, type Turns } from './http/turns.js';
import { type ApiHarness, apiHarness } from '../../../../test/harnesses/api-harness.js';

/** Each look at the clock is a step of a tenth of a millisecond, so fifty steps are a turn. */
class CountedTurns implements Turns {
  turns = 1;
  most = 0;
  /** How often counted queues were asked their name: in all, and in one turn at most. */
  allReads = 0;
  mostReads = 0;
  #reads = 0;
  #steps = 0;
  #now = 0;

  now(): number {
    this.most = Math.max(this.most, ++this.#steps);
    return (this.#now += 0.1);
  }

  count(queue: Queue): void {
    const { name } = queue;
    const read = (): string => {
      this.allReads++;
      this.mostReads = Math.max(this.mostReads, ++this.#reads);
      return name;
    };
    Object.defineProperty(queue, 'name', { get: read });
  }

  next(): Promise<void> {
    this.turns++;
    this.#steps = 0;
    this.#reads = 0;
    return Promise.resolve();
  }
}

const count = 3_000;

function harness(): ApiHarness & { readonly turns: CountedTurns } {
  const turns = new CountedTurns();
  const made = apiHarness({ makeHost: (broker) => ({ dlx: new Dlx({ broker, turns }) }) });
  return { ...made, turns };
}

function furnished(): ReturnType<typeof harness> {
  const made = harness();
  const channel = made.broker.connect().openChannel({} as never);
  for (let n = 0; n < count; n++) {
    channel.declareQueue(`q${n}`);
    channel.bindQueue(`q${n}`, 'amq.direct', `key${n}`);
    channel.publish('', 'q0', {}, Buffer.from(`message ${n}`));
  }
  return made;
}

const evil = `use_regex=true&name=${encodeURIComponent('((a|q|[0-9])+)+!')}`;

describe('an answer about many is made in turns:', () => {
  it.each([
    ['GET', '/queues', undefined, count],
    ['GET', '/bindings', undefined, count],
    ['GET', '/exchanges/%2F/amq.direct/bindings/source', undefined, count],
    ['GET', '/definitions', undefined, count],
    ['GET', '/dlx/topology', undefined, count],
    ['POST', '/queues/%2F/q0/get', { count: -1, ackmode: 'ack_requeue_true', encoding: 'auto' }, count],
    ['POST', '/queues/%2F/q0/get', { count: -1, ackmode: 'reject_requeue_true', encoding: 'auto' }, count],
  ])('%s %s', async (method, path, body, rows) => {
    const { call, turns } = furnished();
    const { status } = await call(method, path, { body });
    expect(status).toBe(200);
    expect(turns.most).toBeLessThan(120);
    expect(turns.turns).toBeGreaterThanOrEqual(Math.floor(rows / 60));
  });

  it.each([['/definitions', (text: string) => (JSON.parse(text) as { bindings: unknown[] }).bindings]])(
    'GET %s reads only some queues in each turn',
    async (path, rowsOf) => {
      const { api, broker, turns } = furnished();
      for (const queue of broker.virtualHost('/').queues.values()) turns.count(queue);
      const url = `/api${path}`;
      const headers = { host: 'localhost', authorization: `Basic ${Buffer.from('guest:guest').toString('base64')}` };
      const incoming = { url, socket: { remoteAddress: '127.0.0.1' } };
      const response = await api.fetch(new Request(`http://localhost${url}`, { headers }), { incoming } as never);
      const reader = response.body!.getReader();
      let text = '';
      for (let read = await reader.read(); !read.done; read = await reader.read())
        text += Buffer.from(read.value).toString();
      expect(rowsOf(text)).toHaveLength(count);
      expect(turns.allReads).toBeGreaterThanOrEqual(count);
      // Fifty steps are a turn.
      expect(turns.mostReads).toBeLessThanOrEqual(400);
      expect(turns.most).toBeLessThan(120);
    },
  );

  it('many requests at a time get one turn after the other', async () => {
    const turns = new SharedTurns();
    const seen: string[] = [];
    const work = async (name: string): Promise<void> => {
      for (let n = 0; n < 3; n++) {
        await turns.next();
        seen.push(name);
      }
    };
    const ticks = (async () => {
      while (seen.filter((each) => each !== '-').length < 6) {
        await new Promise((resolve) => setImmediate(resolve));
        seen.push('-');
      }
    })();
    await Promise.all([work('a'), work('b'), ticks]);
    expect(seen.join('')).not.toMatch(/[ab]{2}/);
  });
});

describe('a pattern for the names of a list', () => {
  it('has one budget for all of them, and is refused when it is spent', async () => {
    const { call } = furnished();
    const { status, body } = await call('GET', `/queues?page=1&${evil}`);
    expect([status, (body as { reason: string }).reason]).toEqual([
      400,
      "the pattern in 'name' takes more than 1600000 steps for 3000 names: write a simpler pattern",
    ]);
  });

  it('that is an ordinary one goes through all of them', async () => {
    const { call } = furnished();
    const { body } = await call('GET', '/queues?page=1&use_regex=true&name=^q[0-9]*(7|8)$&columns=name');
    expect(body).toMatchObject({ filtered_count: 600, total_count: count });
  });
});

describe('a reply with messages', () => {
  it('ends early above 64 MB of bodies, and what did not fit is still in the queue (rule U4)', async () => {
    const { call, broker } = harness();
    const channel = broker.connect().openChannel({} as never);
    channel.declareQueue('q');
    for (let n = 0; n < 8; n++) channel.publish('', 'q', {}, Buffer.alloc(16_777_216));
    const body = { count: -1, ackmode: 'ack_requeue_false', encoding: 'auto', truncate: 10 };
    const { status, body: got } = await call('POST', '/queues/%2F/q/get', { body });
    expect([status, (got as readonly unknown[]).length]).toEqual([200, 4]);
    expect(broker.virtualHost('/').queues.get('q')?.length).toBe(4);
  });
});

describe('a page of messages with long histories', () => {
  it('ends early, and its cursor leads through all of them, each once', async () => {
    const { call, broker, turns } = harness();
    const channel = broker.connect().openChannel({} as never);
    channel.declareQueue('q');
    const long = { type: 'S', value: 'x'.repeat(4_000) } as const;
    const headers = new Map(Array.from({ length: 500 }, (_, n) => [`header${n}`, long] as const));
    for (let n = 0; n < 20; n++) channel.publish('', 'q', { headers }, Buffer.from('x'));
    const ids: string[] = [];
    let pages = 0;
    for (let cursor: string | null = ''; cursor !== null; pages++) {
      const path = `/dlx/queues/%2F/q/messages?page_size=20${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const { body } = await call('GET', path);
      const page = body as { readonly items: readonly { readonly id: string }[]; readonly cursor: string | null };
      ids.push(...page.items.map(({ id }) => id));
      expect(JSON.stringify(page).length).toBeLessThan(20_000_000);
      cursor = page.cursor;
    }
    expect(pages).toBeGreaterThan(1);
    expect(ids).toEqual(Array.from({ length: 20 }, (_, n) => String(n + 1)));
    expect(turns.most).toBeLessThan(120);
  });
});
