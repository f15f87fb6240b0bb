import { beforeEach, describe, expect, it } from 'vitest';
import { type Channel, silentOutbox } from '../../engine/broker/index.js';
import { type Field, int64, longstr, type Properties, StoredBody, toFieldTable } from '../../engine/message/index.js';
import { type ApiHarness, apiHarness } from '../../../../../test/harnesses/api-harness.js';
import { Dlx } from './state.js';
import { declareDying, rejectAll } from '../../../../../test/harnesses/dying.js';

interface Page {
  readonly items: readonly Record<string, never>[];
  readonly scanned: number;
  readonly complete: boolean;
  readonly cursor: string | null;
  readonly [key: string]: unknown;
}

const badReason = "'reason' should be one of rejected, expired, maxlen, delivery_limit, parked:";

describe('GET /api/dlx/queues/{vhost}/{name}/messages', () => {
  let rooms: ApiHarness;
  let channel: Channel;

  beforeEach(() => {
    rooms = apiHarness();
    channel = rooms.broker.connect().openChannel(silentOutbox);
    declareDying(channel, ['work', 'other']);
  });

  const publish = (key: string, body: string | Uint8Array, properties: Properties = {}): void => {
    channel.publish('', key, properties, typeof body === 'string' ? Buffer.from(body) : body);
  };
  const headers = (plain: Record<string, unknown>): Properties => ({ headers: toFieldTable(plain) });
  const page = async (query = '', queue = 'dead'): Promise<Page> => {
    const { status, body } = await rooms.call('GET', `/dlx/queues/%2F/${queue}/messages${query}`);
    expect([status, body]).toEqual([200, body]);
    return body as Page;
  };
  const payloads = async (query: string): Promise<unknown[]> =>
    (await page(query)).items.map((item) => item['payload']);
  const refusal = async (query: string): Promise<unknown> => {
    const { status, body } = await rooms.call('GET', `/dlx/queues/%2F/dead/messages${query}`);
    return [status, (body as { reason: unknown }).reason];
  };

  it('shows everything there is to know of a message, wire types included', async () => {
    const own = new Map<string, Field>([
      ['short', { type: 's', value: 7 }],
      ['big', int64(2n ** 62n)],
      ['__proto__', longstr('harmless')],
      [
        'list',
        {
          type: 'A',
          value: [
            { type: 't', value: true },
            { type: 'V', value: undefined },
          ],
        },
      ],
      ['dlx-error-class', longstr('TimeoutError')],
      ['dlx-error-message', longstr('no answer after 250 ms')],
    ]);
    publish('work', '{"a":1}', { headers: own, contentType: 'application/json', priority: 3, expiration: '5000' });
    rejectAll(channel, 'work');
    const [item] = (await page()).items;
    expect(item).toEqual({
      id: '1',
      exchange: '',
      routing_key: 'dead',
      origin: { exchange: '', routing_key: 'work', proven: true },
      redelivered: true, // rule W16
      returns: 0,
      failures: 1,
      expires_at: null,
      redrives: 0,
      fingerprint: '1:525de071c926cc36',
      error: {
        class: 'TimeoutError',
        message: 'no answer after 250 ms',
        kind: 'TimeoutError: no answer after # ms',
      },
      died_at: rooms.clock.now(),
      first_death: { reason: 'rejected', queue: 'work', exchange: '' },
      deaths: [
        {
          reason: 'rejected',
          count: 1,
          queue: 'work',
          exchange: '',
          routing_keys: ['work'],
          time: rooms.clock.now(),
          original_expiration: '5000',
        },
      ],
      properties: { content_type: 'application/json', priority: 3 },
      headers: expect.anything(),
      payload: '{"a":1}',
      payload_encoding: 'string',
      payload_bytes: 7,
      payload_truncated: false,
    });
    const shown = item!['headers'] as unknown as Record<string, unknown>;
    expect(shown['short']).toEqual({ type: 'short', value: 7 });
    expect(shown['big']).toEqual({ type: 'long', value: '4611686018427387904' });
    expect(Object.getOwnPropertyDescriptor(shown, '__proto__')?.value).toEqual({ type: 'longstr', value: 'harmless' });
    expect(shown['list']).toEqual({
      type: 'array',
      value: [
        { type: 'bool', value: true },
        { type: 'void', value: null },
      ],
    });
    expect(shown['x-death']).toMatchObject({ type: 'array', value: [{ type: 'table' }] });
  });

  it('changes nothing: no delivery, no count, no mark, also at a delivery limit', async () => {
    const args = { 'x-queue-type': 'quorum', 'x-delivery-limit': 1, 'x-dead-letter-exchange': '' };
    channel.declareQueue('limited', { durable: true, arguments: toFieldTable(args) });
    publish('limited', 'one');
    const queue = rooms.broker.virtualHost('/').queues.get('limited')!;
    const before = { ...queue.counters };
    for (let look = 0; look < 5; look++) expect((await page('', 'limited')).items).toMatchObject([{ returns: 0 }]);
    expect({ ...queue.counters }).toEqual(before);
    expect([queue.length, queue.unacked]).toEqual([1, 0]);
    expect(channel.get('limited')).toMatchObject({ redelivered: false });
    expect(await page('', 'limited')).toMatchObject({ items: [], messages_ready: 0, messages_unacknowledged: 1 });
  });

  it('goes on page by page, whatever comes and goes meanwhile', async () => {
    for (let number = 1; number <= 10; number++) publish('dead', `${number}`);
    const first = await page('?page_size=3');
    expect(first).toMatchObject({ scanned: 3, complete: false, items: [{ id: '1' }, { id: '2' }, { id: '3' }] });
    for (let count = 0; count < 5; count++) channel.get('dead', { noAck: true });
    publish('dead', '11');
    const seen: unknown[] = [];
    let cursor = first.cursor;
    while (cursor !== null) {
      const next = await page(`?page_size=4&cursor=${cursor}`);
      seen.push(...next.items.map((item) => item['payload']));
      cursor = next.cursor;
    }
    expect(seen).toEqual(['6', '7', '8', '9', '10', '11']);
  });

  it('keeps its place among what was returned, and among priorities', async () => {
    channel.declareQueue('ranked', { arguments: toFieldTable({ 'x-max-priority': 2 }) });
    for (let number = 0; number < 9; number++) publish('ranked', `${number}`, { priority: number % 3 });
    const got = [channel.get('ranked'), channel.get('ranked'), channel.get('ranked')];
    for (const each of got) channel.nack(each!.deliveryTag, false, true);
    const seen: unknown[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const next: Page = await page(`?page_size=2&cursor=${cursor}`, 'ranked');
      seen.push(...next.items.map((item) => item['payload']));
      cursor = next.cursor;
    }
    expect(seen).toEqual(['2', '5', '8', '1', '4', '7', '0', '3', '6']);
  });

  it('finds by reason, queue, first queue, address, header, error, text and age', async () => {
    publish('work', 'rejected one', headers({ tenant: 'a', size: 5, 'dlx-error-class': 'TypeError' }));
    rejectAll(channel, 'work');
    rooms.clock.advance('1h');
    publish('other', 'expired one', { expiration: '10', ...headers({ tenant: 'b' }) });
    rooms.clock.advance('1m');
    publish('dead', 'never died');
    const history = [{ queue: 'work', reason: 'rejected', count: 3 }];
    publish('dead', 'in parking', headers({ 'dlx-parked': true, 'dlx-queue': 'work', 'dlx-deaths': history }));
    const answers = {
      '?reason=rejected': ['rejected one'],
      '?reason=expired': ['expired one'],
      '?reason=': ['never died'],
      '?reason=parked': ['in parking'],
      '?queue=other': ['expired one'],
      '?first_queue=work': ['rejected one', 'in parking'],
      '?exchange=&routing_key=other': ['expired one'],
      '?routing_key=dead': ['never died', 'in parking'],
      '?header=tenant': ['rejected one', 'expired one'],
      '?header=tenant=b': ['expired one'],
      '?header=tenant=a&header=size=5': ['rejected one'],
      '?header=size=6': [],
      '?error=TypeError': ['rejected one'],
      '?error=': ['expired one', 'never died', 'in parking'],
      '?text=one': ['rejected one', 'expired one'],
      '?text=never': ['never died'],
      '?older_than=30m': ['rejected one'],
      '?younger_than=30m': ['expired one'],
      '?reason=expired&text=rejected': [],
    };
    for (const [query, expected] of Object.entries(answers)) {
      expect([query, await payloads(query)]).toEqual([query, expected]);
    }
  });

  it('finds text in the first 65,536 bytes of a body', async () => {
    publish('dead', 'needle'.padStart(65_536, '-'));
    publish('dead', 'needle'.padStart(65_537, '-'));
    expect((await page('?text=needle')).items.map((item) => item['id'])).toEqual(['1']);
  });

  it('ends a page early when its headers come to 16 MiB, and goes on from there', async () => {
    const long = 'x'.repeat(4_096);
    const many = headers(Object.fromEntries(Array.from({ length: 256 }, (_, index) => [`header-${index}`, long])));
    for (let number = 0; number < 20; number++) publish('dead', '', many);
    const { items, complete, cursor } = await page('?page_size=500&truncate=0');
    expect([items.length, complete]).toEqual([16, false]);
    expect((await page(`?page_size=500&truncate=0&cursor=${cursor}`)).items[0]).toMatchObject({ id: '17' });
  });

  it('says how far it looked when the messages meant are rare, and goes on from there', async () => {
    for (let number = 0; number < 1_000; number++) publish('dead', number % 400 === 399 ? 'rare' : 'usual');
    const looks: unknown[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const next: Page = await page(`?text=rare&scan=300&cursor=${cursor}`);
      looks.push([next.scanned, next.items.map((item) => item['id'])]);
      cursor = next.cursor;
    }
    expect(looks).toEqual([
      [300, []],
      [300, ['400']],
      [300, ['800']],
      [100, []],
    ]);
  });

  it('shows bodies as text or base64, cut at the requested length, never within a character', async () => {
    publish('dead', 'größe');
    publish('dead', new Uint8Array([0xff, 0xfe, 0x00]));
    const shown = async (query: string) =>
      (await page(query)).items.map(({ payload, payload_encoding }) => [payload, payload_encoding]);
    expect(await shown('')).toEqual([
      ['größe', 'string'],
      ['//4A', 'base64'],
    ]);
    expect(await shown('?truncate=3')).toEqual([
      ['gr', 'string'],
      ['//4A', 'base64'],
    ]);
    expect(await shown('?encoding=base64&truncate=2')).toEqual([
      [Buffer.from('gr').toString('base64'), 'base64'],
      ['//4=', 'base64'],
    ]);
    expect((await page('?truncate=0')).items).toMatchObject([
      { payload: '', payload_bytes: 7, payload_truncated: true },
      { payload: '', payload_bytes: 3 },
    ]);
  });

  it('shows the others, too, when a body cannot be read back from disk', async () => {
    publish('dead', 'lost');
    publish('dead', 'here');
    const lost = rooms.broker.virtualHost('/').queues.get('dead')!.find(1)!.message;
    const unreadable = new RangeError('a bad sector');
    class Unreadable extends StoredBody {
      readonly length = 4;
      read(): never {
        throw unreadable;
      }
    }
    lost.pageOut(new Unreadable());
    expect((await page()).items).toMatchObject([
      { payload: null, payload_bytes: 4, payload_error: { kind: 'unreadable', reason: 'a bad sector' } },
      { payload: 'here' },
    ]);
    expect(await payloads('?text=e')).toEqual(['here']);
    expect(await page('?text=e')).toMatchObject({ unreadable: { count: 1, reason: 'a bad sector' } });
    expect(await page('?text=e')).toMatchObject({ items: [{ payload: 'here' }] });
    expect((await page('?truncate=0')).items).toMatchObject([{ payload: '' }, { payload: '' }]);
  });

  it('shows one message whole, however long its headers are', async () => {
    publish('dead', 'x'.repeat(5_000), headers({ stack: 'y'.repeat(10_000) }));
    const [item] = (await page()).items;
    expect(item).toMatchObject({ payload: 'x'.repeat(1_024), payload_truncated: true, payload_bytes: 5_000 });
    expect(item!['headers']).toEqual({ stack: { type: 'longstr', value: 'y'.repeat(4_096), length: 10_000 } });
    const { body } = await rooms.call('GET', '/dlx/queues/%2F/dead/messages/1');
    expect(body).toMatchObject({
      payload: 'x'.repeat(5_000),
      headers: { stack: { type: 'longstr', value: 'y'.repeat(10_000) } },
    });
  });

  it.each([
    ['?page_size=0', "'page_size' should be a whole number from 1 to 500: '0'"],
    ['?page_size=501', "'page_size' should be a whole number from 1 to 500: '501'"],
    ['?page_size=ten', "'page_size' should be a whole number from 1 to 500: 'ten'"],
    ['?page_size=500&truncate=1048576', 'page_size times truncate is over 16777216 bytes'],
    ['?cursor=1', "'cursor' should be the cursor of the page before: '1'"],
    ['?encoding=utf7', "'encoding' should be one of auto, base64: 'utf7'"],
    ['?older_than=5', "'older_than' should be a duration such as 90s, 15m, 2h or 7d: '5'"],
    ['?reason=rejcted', `${badReason} 'rejcted'; did you mean 'rejected'?`],
    ['?reason=x', `${badReason} 'x'`],
    ['?reason=a&reason=b', "parameter 'reason' is given more than once"],
    ['?header==x', 'a header is asked for without its name'],
    ['?text=', "'text' is empty"],
    [`?text=${'x'.repeat(1_025)}`, "'text' is longer than 1024 characters"],
    [`?${Array.from({ length: 11 }, () => 'header=a').join('&')}`, 'more than 10 headers'],
    [
      '?reasson=expired',
      "unknown parameter 'reasson'; known are reason, queue, first_queue, exchange, routing_key, error, fingerprint, text, " +
        'older_than, younger_than, header, encoding, truncate, page_size, cursor, scan',
    ],
  ])('refuses %s by its name', async (query, reason) => {
    expect(await refusal(query)).toEqual([400, reason]);
  });

  it('is for who may read the queue, and there must be one', async () => {
    const { access } = rooms.broker;
    access.setUser('ann', { tags: ['management'], passwordHash: access.user('guest')!.passwordHash });
    access.setPermissions('ann', '/', { configure: '.*', write: '.*', read: '^work$' });
    const look = async (as: string, path: string) => {
      const { status, body } = await rooms.call('GET', `/dlx/queues/${path}/messages`, { as });
      return [status, (body as { reason?: unknown } | undefined)?.reason];
    };
    expect(await look('ann:guest', '%2F/dead')).toEqual([401, 'Access refused.']);
    expect((await look('ann:guest', '%2F/work'))[0]).toBe(200);
    expect(await look('ann:guest', '%2F/none')).toEqual([404, 'Not Found']);
    expect(await look('ann:guest', 'none/dead')).toEqual([404, 'Not Found']);
    expect((await look('', '%2F/dead'))[0]).toBe(401);
    const owner = rooms.broker.connect().openChannel(silentOutbox);
    owner.declareQueue('mine', { exclusive: true });
    const [status, reason] = await look('guest:guest', '%2F/mine');
    expect([status, String(reason).slice(0, 54)]).toEqual([
      400,
      "cannot obtain exclusive access to locked queue 'mine' ",
    ]);
  });

  describe('DELETE', () => {
    it('takes out one message, wherever it stands, and lets it die of nothing', async () => {
      for (const body of ['one', 'two', 'three']) publish('work', body);
      const path = '/dlx/queues/%2F/work/messages';
      expect((await rooms.call('DELETE', `${path}/2`)).status).toBe(204);
      expect((await rooms.call('DELETE', `${path}/2`)).status).toBe(404);
      expect((await page('', 'work')).items.map((item) => item['payload'])).toEqual(['one', 'three']);
      expect(await page()).toMatchObject({ messages_ready: 0 });
      expect((await rooms.call('DELETE', `${path}/x`)).body).toMatchObject({ reason: "'x' is no id of a message" });
    });

    it('takes out all that match, and first only counts them if asked to', async () => {
      for (let number = 0; number < 500; number++) publish('dead', number % 5 === 0 ? 'poison' : `good ${number}`);
      const remove = async (query: string) =>
        (await rooms.call('DELETE', `/dlx/queues/%2F/dead/messages${query}`)).body;
      const counts = { matched: 100, discarded: 0, scanned: 500, dry_run: true, messages_ready: 500 };
      expect(await remove('?text=poison&dry_run=true')).toMatchObject(counts);
      expect(await remove('?text=poison')).toMatchObject({
        ...counts,
        discarded: 100,
        dry_run: false,
        messages_ready: 400,
      });
      expect(await remove('?text=poison')).toMatchObject({ matched: 0, scanned: 400 });
      expect(await remove('')).toMatchObject({
        reason: 'name the messages by a filter or by ids; DELETE /api/queues/vhost/name/contents deletes all of them',
      });
    });

    it('leaves matches that arrive while it runs', async () => {
      let time = 0;
      let arrived = 0;
      const turns = {
        now: () => (time += 3),
        next: async () => {
          if (arrived < 100) publish('dead', `poison ${++arrived} that arrived later`);
        },
      };
      rooms = apiHarness({ makeHost: (broker) => ({ dlx: new Dlx({ broker, turns }) }) });
      channel = rooms.broker.connect().openChannel(silentOutbox);
      channel.declareQueue('dead');
      for (let number = 0; number < 100; number++) publish('dead', 'poison');
      const { body } = await rooms.call('DELETE', '/dlx/queues/%2F/dead/messages?text=poison');
      expect(body).toMatchObject({ matched: 100, discarded: 100 });
      expect(arrived).toBeGreaterThan(0);
      expect(body).toMatchObject({ messages_ready: arrived });
    });

    it('takes out no more matches than the limit, the first ones', async () => {
      for (let number = 1; number <= 5; number++) publish('dead', `poison ${number}`);
      const remove = (query: string) => rooms.call('DELETE', `/dlx/queues/%2F/dead/messages${query}`);
      expect((await remove('?text=poison&limit=2&dry_run=true')).body).toMatchObject({ matched: 2, discarded: 0 });
      expect((await remove('?text=poison&limit=2')).body).toMatchObject({ matched: 2, discarded: 2 });
      expect((await page()).items.map((item) => item['payload'])).toEqual(['poison 3', 'poison 4', 'poison 5']);
      expect((await remove('?text=poison&limit=0')).status).toBe(400);
      expect((await remove('?ids=3&limit=1')).body).toMatchObject({ reason: "'ids' and 'limit' exclude each other" });
    });
  });

  describe('DELETE of chosen messages', () => {
    const remove = (query: string, as?: string) =>
      rooms.call('DELETE', `/dlx/queues/%2F/dead/messages${query}`, as === undefined ? {} : { as });

    it('takes out these, and first only counts them if asked to', async () => {
      for (let number = 1; number <= 6; number++) publish('dead', `${number}`);
      const counts = { matched: 3, discarded: 0, gone: 1, scanned: 4, dry_run: true, messages_ready: 6 };
      expect((await remove('?ids=2,4,9,6&dry_run=true')).body).toMatchObject(counts);
      const done = { ...counts, discarded: 3, dry_run: false, messages_ready: 3 };
      expect((await remove('?ids=2,4,2,9,6')).body).toMatchObject(done);
      expect((await page()).items.map((item) => item['payload'])).toEqual(['1', '3', '5']);
      expect((await remove('?ids=2,4')).body).toMatchObject({ matched: 0, discarded: 0, gone: 2 });
      const { body } = await rooms.call('GET', '/dlx/audit?page_size=2');
      expect((body as { items: unknown[] }).items[1]).toMatchObject({
        action: 'DELETE /api/dlx/queues/:vhost/:name/messages',
        details: {
          ids: 4,
          first_ids: ['2', '4', '9', '6'],
          dry_run: false,
          counts: { matched: 3, discarded: 3, gone: 1 },
        },
      });
    });

    it('takes out none of a queue that was declared anew, whose ids begin again', async () => {
      publish('dead', 'old');
      const { instance } = (await remove('?ids=0&dry_run=true')).body as { instance: string };
      expect((await remove(`?ids=1&dry_run=true&instance=${instance}`)).body).toMatchObject({ matched: 1, instance });
      channel.deleteQueue('dead');
      channel.declareQueue('dead');
      publish('dead', 'new');
      const answer = await remove(`?ids=1&instance=${instance}`);
      expect([answer.status, answer.body]).toEqual([409, expect.objectContaining({ error: 'conflict' })]);
      expect(await page()).toMatchObject({ messages_ready: 1 });
      expect((await remove('?text=new&instance=x')).body).toMatchObject({ reason: "'instance' goes with 'ids'" });
      expect((await remove('?ids=1&instance=')).status).toBe(409);
    });

    it('leaves what a consumer has, and is no death', async () => {
      publish('work', 'held');
      publish('work', 'ready');
      channel.get('work');
      const { body } = await rooms.call('DELETE', '/dlx/queues/%2F/work/messages?ids=1,2');
      expect(body).toMatchObject({ matched: 1, discarded: 1, gone: 1, messages_unacknowledged: 1 });
      expect(await page()).toMatchObject({ messages_ready: 0 });
    });

    it.each([
      ['?ids=', "'' is no id of a message"],
      ['?ids=1,x', "'x' is no id of a message"],
      ['?ids=-1', "'-1' is no id of a message"],
      ['?ids=1.5', "'1.5' is no id of a message"],
      ['?ids=1,2&reason=rejected', "'ids' and a filter exclude each other"],
      ['?ids=1&ids=2', "parameter 'ids' is given more than once"],
      [`?ids=${Array.from({ length: 1_001 }, (_, id) => id).join(',')}`, "'ids' has more than 1000"],
      ['?id=1', "unknown parameter 'id'"],
    ])('refuses %s', async (query, reason) => {
      publish('dead', 'x');
      const answer = await remove(query);
      expect([answer.status, (answer.body as { reason: string }).reason]).toEqual([
        400,
        expect.stringContaining(reason),
      ]);
      expect(await page()).toMatchObject({ messages_ready: 1 });
    });

    it('needs the right to read the queue', async () => {
      publish('dead', 'x');
      const { access } = rooms.broker;
      access.setUser('ada', { tags: ['management'], passwordHash: access.user('guest')!.passwordHash });
      access.setPermissions('ada', '/', { configure: '', write: '.*', read: 'work' });
      expect((await remove('?ids=1', 'ada:guest')).status).toBe(401);
      expect(await page()).toMatchObject({ messages_ready: 1 });
    });
  });

  describe('/groups', () => {
    const groups = async (query: string) => (await rooms.call('GET', `/dlx/queues/%2F/dead/groups${query}`)).body;

    it('shows 2,000 failures that are 3 errors as 3', async () => {
      for (let number = 0; number < 2_000; number++) {
        const [name, message] = [
          ['TimeoutError', `no answer after ${number} ms`],
          ['TypeError', "x of 'undefined'"],
          ['HttpError', `order 0b9c1a52-0d5f-4a5f-9d5e-${String(number).padStart(12, '0')} gave 50${number % 10}`],
        ][number % 8 === 0 ? 1 : number % 3 === 0 ? 2 : 0]!;
        publish('work', 'x', headers({ 'dlx-error-class': name, 'dlx-error-message': message }));
      }
      rejectAll(channel, 'work');
      const answer = (await groups('?by=error')) as { groups: { value: string; count: number; example_id: string }[] };
      expect(answer).toMatchObject({ by: 'error', scanned: 2_000, complete: true, cursor: null, others: 0 });
      expect(answer.groups.map(({ value, count }) => [value, count])).toEqual([
        ['TimeoutError: no answer after # ms', 1_167],
        ['HttpError: order # gave #', 583],
        ["TypeError: x of 'undefined'", 250],
      ]);
      const byFingerprint = (await groups('?by=fingerprint')) as { groups: { count: number; error: string | null }[] };
      expect(byFingerprint.groups.map(({ error, count }) => [error, count])).toEqual(
        answer.groups.map(({ value, count }) => [value, count]),
      );
      for (const { value, count } of answer.groups) {
        const found = await page(`?error=${encodeURIComponent(value)}&page_size=1`);
        expect(found.items[0]).toMatchObject({ error: { kind: value } });
        const all = await rooms.call(
          'DELETE',
          `/dlx/queues/%2F/dead/messages?dry_run=true&error=${encodeURIComponent(value)}`,
        );
        expect(all.body).toMatchObject({ matched: count });
      }
    });

    it('counts messages beyond a thousand groups as others', async () => {
      for (let number = 0; number < 1_002; number++) publish('dead', '', headers({ 'dlx-error-class': `E${number}` }));
      publish('dead', '', headers({ 'dlx-error-class': 'E0' }));
      const answer = (await groups('?by=error')) as { groups: unknown[] };
      expect(answer).toMatchObject({ others: 2, scanned: 1_003 });
      expect(answer.groups).toHaveLength(1_000);
    });

    it('groups what never died by whether it is parked', async () => {
      for (const parked of [true, false, true]) publish('dead', 'a', headers({ 'dlx-parked': parked }));
      expect(await groups('?by=reason')).toMatchObject({
        groups: [
          { value: 'parked', count: 2 },
          { value: '', count: 1 },
        ],
      });
      expect(await groups('?by=reason&reason=parked')).toMatchObject({ groups: [{ value: 'parked', count: 2 }] });
      expect(await groups('?by=reason&reason=')).toMatchObject({ groups: [{ value: '', count: 1 }] });
    });

    it('groups by reason, queue, first queue, exchange and routing key, with times', async () => {
      publish('work', 'a');
      rejectAll(channel, 'work');
      const first = rooms.clock.now();
      rooms.clock.advance('1h');
      for (const expiration of ['0', '0']) publish('other', 'b', { expiration });
      publish('dead', 'c');
      const times = (time: number) => ({ oldest: time, newest: time });
      expect(await groups('?by=reason')).toMatchObject({
        groups: [
          { value: 'expired', count: 2, example_id: '2', ...times(rooms.clock.now()) },
          { value: 'rejected', count: 1, example_id: '1', ...times(first) },
          { value: '', count: 1, example_id: '4', oldest: null, newest: null },
        ],
      });
      for (const by of ['queue', 'first-queue']) {
        expect(await groups(`?by=${by}`)).toMatchObject({
          groups: [{ value: 'other' }, { value: 'work' }, { value: '' }],
        });
      }
      expect(await groups('?by=routing-key&reason=expired')).toMatchObject({ groups: [{ value: 'other', count: 2 }] });
      expect(await groups('?by=exchange')).toMatchObject({ groups: [{ value: '', count: 4 }] });
      expect(await groups('?by=colour')).toMatchObject({
        reason: "'by' should be one of reason, error, fingerprint, queue, first-queue, exchange, routing-key: 'colour'",
      });
      expect(await groups('')).toMatchObject({
        reason: "'by' should be one of reason, error, fingerprint, queue, first-queue, exchange, routing-key",
      });
    });
  });
});
