import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Channel, silentOutbox } from '../../../engine/broker/index.js';
import { int32, type Properties, toFieldTable } from '../../../engine/message/index.js';
import { type ApiHarness, apiHarness, type HarnessOptions } from '../../../../../../test/harnesses/api-harness.js';
import { declareDying, rejectAll } from '../../../../../../test/harnesses/dying.js';
import type { AuditEntry } from '../../audit/audit-log.js';

let rooms: ApiHarness;
let channel: Channel;
let written: AuditEntry[];

function arrange(options: HarnessOptions = {}): void {
  written = [];
  const audit = { earlier: [], append: (entry: AuditEntry) => void written.push(entry), close: async () => {} };
  rooms = apiHarness({ edits: true, host: { audit }, ...options });
  channel = rooms.broker.connect().openChannel(silentOutbox);
  channel.declareExchange('orders', { type: 'topic' });
  declareDying(channel, ['work']);
  channel.bindQueue('work', 'orders', 'order.#');
}
beforeEach(() => arrange());

function letDie(body: string | Uint8Array, properties: Properties = {}): void {
  channel.publish('orders', 'order.created', properties, Buffer.from(body));
  rejectAll(channel, 'work');
}

interface State {
  readonly id: string;
  readonly state: string;
  readonly moved: number;
  readonly left: number;
  readonly gone: number;
  readonly left_at: readonly { why: string; count: number; example_id: string; exchange: string | null }[];
  readonly pairs: readonly { id: string; before: { payload: string }; after: { payload: string } }[];
  readonly edit: unknown;
  readonly reason?: string;
}

const post = async (body: object, as = 'guest:guest') => {
  const answer = await rooms.call('POST', '/dlx/redrives', { body: { vhost: '/', queue: 'dead', ...body }, as });
  return { status: answer.status, ...(answer.body as State) };
};

/** Starts a redrive as fast as possible, and returns its end. */
async function redriven(body: object): Promise<State> {
  const { status, id } = await post({ rate: 0, circuit: false, ...body });
  expect(status).toBe(201);
  rooms.clock.advance('1m');
  return (await rooms.call('GET', `/dlx/redrives/${id}`)).body as State;
}

const queueOf = (name: string) => rooms.broker.virtualHost('/').queues.get(name)!;
const depths = (): readonly number[] => ['dead', 'work'].map((name) => queueOf(name).length);
const taken = () => channel.get('work', { noAck: true })!.message;
const bodies = (): readonly string[] =>
  Array.from({ length: queueOf('work').length }, () => Buffer.from(taken().body).toString());
const sum = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex');

describe('a redrive with a merge patch', () => {
  it('patches one of three kinds among 2,000 by its fingerprint, and leaves the others as they are', async () => {
    const kinds = ['NoCurrency', 'Timeout', 'Refused'].map((name) => ({ 'dlx-error-class': name }));
    for (let n = 0; n < 2_000; n++) {
      const headers = toFieldTable({ ...kinds[n % 3], n });
      channel.publish(
        'orders',
        'order.created',
        { headers, messageId: `m-${n}` },
        Buffer.from(`{"n": ${n}, "price": 1.0}`),
      );
    }
    rejectAll(channel, 'work');
    const edit = { merge_patch: { currency: 'EUR', price: null }, headers: { mended: true } };
    const { body: first } = await rooms.call('GET', '/dlx/queues/%2F/dead/messages/1');
    const filter = { fingerprint: (first as { fingerprint: string }).fingerprint };
    const dry = await post({ filter, edit, dry_run: true });
    expect(dry).toMatchObject({ status: 200, moved: 667, left: 0 });
    expect(dry.pairs).toHaveLength(10);
    expect(dry.pairs[1]).toMatchObject({
      id: '4',
      before: { payload: '{"n": 3, "price": 1.0}', headers: {} },
      after: { payload: '{"n": 3, "currency": "EUR"}', headers: { mended: { type: 'bool', value: true } } },
    });
    expect(depths()).toEqual([2_000, 0]);
    expect(await redriven({ filter, edit })).toMatchObject({ state: 'done', moved: 667, left: 0, gone: 0 });
    expect(depths()).toEqual([1_333, 667]);
    for (let n = 0; n < 2_000; n += 3) {
      const { body, properties } = taken();
      expect([Buffer.from(body).toString(), properties.messageId]).toEqual([
        `{"n": ${n}, "currency": "EUR"}`,
        `m-${n}`,
      ]);
      expect(properties.headers?.get('dlx-edited')).toEqual(int32(1));
      expect(properties.headers?.get('dlx-original-sha256')?.value).toBe(sum(`{"n": ${n}, "price": 1.0}`));
    }
    for (let n = 0; n < 2_000; n++) {
      if (n % 3 === 0) continue;
      const { body, properties } = channel.get('dead', { noAck: true })!.message;
      expect(Buffer.from(body).toString()).toBe(`{"n": ${n}, "price": 1.0}`);
      expect(properties.headers?.has('dlx-edited')).toBe(false);
    }
  });

  it('leaves and counts what it cannot change', async () => {
    arrange();
    const large = `{"a":1,"b":"${'x'.repeat(600_000)}"}`;
    const gzip = { contentEncoding: 'gzip' };
    const all: [string | Uint8Array, Properties?][] = [
      ['{"a":1}'], // moved
      ['{"a":2,"n":12345678901234567890}'], // unchanged
      ['no JSON'],
      ['[1]'],
      [Buffer.from([0x7b, 0xff, 0x7d])],
      ['{"a":1} {}'],
      [gzipSync('{"a":1}'), gzip], // moved
      [gzipSync(large), gzip], // too large
      ['{"a":1}', gzip],
      ['{"a":1}', { contentEncoding: 'br' }],
      [large],
      [`${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`], // moved
    ];
    for (const [body, properties] of all) letDie(body, properties);
    const state = await redriven({ filter: { exchange: 'orders' }, edit: { merge_patch: { a: 2 } } });
    expect(state).toMatchObject({ state: 'done', moved: 3, left: 9 });
    expect(state.left_at.map(({ why, count, example_id, exchange }) => [why, count, example_id, exchange])).toEqual([
      ['unchanged', 1, '2', null],
      ['undecodable', 6, '3', null],
      ['too_large', 2, '8', null],
    ]);
    expect(Buffer.from(taken().body).toString()).toBe('{"a":2}');
    const compressed = taken();
    expect([gunzipSync(compressed.body).toString(), compressed.properties.contentEncoding]).toEqual([
      '{"a":2}',
      'gzip',
    ]);
  });

  it('sets and removes headers alone, with their types, and leaves messages that have them already', async () => {
    letDie('no JSON', { headers: toFieldTable({ tenant: 'acme', old: 1 }) });
    letDie('x', { headers: toFieldTable({ tenant: 'globex' }) });
    const headers = { tenant: 'globex', old: null, n: { type: 'byte', value: 5 } };
    const { n: _, ...few } = headers;
    expect(await redriven({ ids: ['1', '2'], edit: { headers: few } })).toMatchObject({
      moved: 1,
      left_at: [{ why: 'unchanged', count: 1, example_id: '2' }],
    });
    const fields = taken().properties.headers!;
    expect([fields.get('tenant')?.value, fields.has('old')]).toEqual(['globex', false]);
    expect(await redriven({ ids: ['2'], edit: { headers } })).toMatchObject({ moved: 1 });
    expect(taken().properties.headers?.get('n')).toEqual({ type: 'b', value: 5 });
  });

  it('keeps the message id, and no user id that the broker vouched for', async () => {
    letDie('{"a":1}', { userId: 'bob', messageId: 'm', correlationId: 'c' });
    await redriven({ ids: ['1'], edit: { merge_patch: { a: 2 } } });
    expect(taken().properties).toMatchObject({ messageId: 'm', correlationId: 'c' });
    expect(queueOf('dead').length).toBe(0);
  });

  it('works in groups of several queues, each with its own filter', async () => {
    letDie('{"a":1}');
    const groups = [{ vhost: '/', queue: 'dead', filter: { exchange: 'orders' } }];
    const ask = (more: object) =>
      rooms.call('POST', '/dlx/redrives', { body: { edit: { merge_patch: { a: 2 } }, ...more } });
    expect(await ask({ groups: [...groups, { vhost: '/', queue: 'work' }] })).toMatchObject({
      status: 400,
      body: { reason: "name the messages to edit, by 'ids' or by a 'filter'" },
    });
    expect((await ask({ groups, rate: 0 })).status).toBe(201);
    rooms.clock.advance('1s');
    expect(bodies()).toEqual(['{"a":2}']);
  });

  it('moves every message of two groups, each up to its limit, and keeps all as they were', async () => {
    for (const [n, name] of ['A', 'A', 'B', 'B'].entries()) {
      letDie(`{"n":${n}}`, { headers: toFieldTable({ 'dlx-error-class': name }) });
    }
    const group = (error: string) => ({ vhost: '/', queue: 'dead', filter: { error, reason: 'rejected' }, limit: 2 });
    const edit = { merge_patch: { a: 2 }, keep_original: true };
    const body = { groups: [group('A'), group('B')], edit };
    expect(await rooms.call('POST', '/dlx/redrives', { body })).toMatchObject({ status: 201, body: { limit: null } });
    rooms.clock.advance('1s');
    expect([...depths(), queueOf('dead.edited').length]).toEqual([0, 4, 4]);
  });
});

describe('a redrive with another body', () => {
  it('replaces the body of one message, and is done when it is answered', async () => {
    letDie('{"a":1}', { messageId: 'm' });
    const state = await post({ ids: ['1'], edit: { payload: '{"a":2}' } });
    expect(state).toMatchObject({ status: 201, state: 'done', moved: 1, circuit: null });
    expect(depths()).toEqual([0, 1]);
    expect(bodies()).toEqual(['{"a":2}']);
    expect((await rooms.call('GET', `/dlx/redrives/${state.id}`)).body).toMatchObject({ moved: 1 });
  });

  it('accepts base64, and what is no JSON only if that is allowed', async () => {
    letDie('{"a":1}');
    const edit = { payload: '/wA=', payload_encoding: 'base64' };
    expect((await post({ ids: ['1'], edit })).reason).toContain("'payload' stops being JSON at byte 0");
    expect(await post({ ids: ['1'], edit: { ...edit, allow_invalid: true } })).toMatchObject({ moved: 1 });
    expect([...taken().body]).toEqual([255, 0]);
  });

  it('is refused with the reason when the message has left (409) or was never there (404), and for a consumer that has it', async () => {
    letDie('{"a":1}');
    const edit = { payload: '{"a":2}' };
    for (const each of [edit, { merge_patch: { a: 2 } }]) {
      expect((await post({ ids: ['7'], edit: each })).status).toBe(404);
      const got = channel.get('dead')!;
      const held = await post({ ids: ['1'], edit: each });
      expect([held.status, held.reason]).toEqual([
        409,
        expect.stringContaining("message 1 of queue 'dead' is with a consumer"),
      ]);
      channel.nack(got.deliveryTag, false, true);
    }
    expect((await post({ ids: ['1'], edit })).status).toBe(201);
    const again = await post({ ids: ['1'], edit });
    expect([again.status, again.reason]).toEqual([409, expect.stringContaining('has left the queue')]);
    expect(depths()).toEqual([0, 1]);
  });
});

describe('the message as it was', () => {
  it('is in a queue of its own, in the same commit, or nothing moves', async () => {
    letDie('{"a":1}');
    letDie('{"a":1,"b":1}');
    const edit = { merge_patch: { a: 2 }, keep_original: true };
    expect(await redriven({ ids: ['1'], edit })).toMatchObject({ moved: 1 });
    expect([...depths(), queueOf('dead.edited').length]).toEqual([1, 1, 1]);
    expect(queueOf('dead.edited').declared.durable).toBe(true);
    const kept = channel.get('dead.edited', { noAck: true })!.message;
    expect([Buffer.from(kept.body).toString(), kept.properties.headers?.has('x-death')]).toEqual(['{"a":1}', true]);
    channel.deleteQueue('dead.edited');
    const args = toFieldTable({ 'x-max-length': 0, 'x-overflow': 'reject-publish' });
    channel.declareQueue('dead.edited', { durable: true, arguments: args });
    expect(await redriven({ ids: ['2'], edit })).toMatchObject({ moved: 0, left_at: [{ why: 'not_kept', count: 1 }] });
    expect(depths()).toEqual([1, 1]);
  });

  it('needs the right to declare its queue, and to write to it', async () => {
    letDie('{"a":1}');
    const { access } = rooms.broker;
    access.setUser('ada', { tags: ['management', 'editor'], passwordHash: access.user('guest')!.passwordHash });
    const edit = { merge_patch: { a: 2 }, keep_original: true };
    for (const [configure, write, status] of [
      ['', '.*', 401],
      ['.*', 'orders', 401],
      ['dead.edited', '.*', 201],
    ] as const) {
      access.setPermissions('ada', '/', { configure, write, read: '.*' });
      expect((await post({ ids: ['1'], edit, dry_run: true }, 'ada:guest')).status).toBe(status === 201 ? 200 : status);
      expect((await post({ ids: ['1'], edit }, 'ada:guest')).status).toBe(status);
    }
    expect([...depths(), queueOf('dead.edited').length]).toEqual([0, 1, 1]);
  });
});

describe('the audit log', () => {
  it('has the user, the filter, the counts, the sums and the names of headers, and no byte of a body', async () => {
    for (let n = 0; n < 30; n++) letDie(`{"secret-before":${n}}`);
    letDie('{"secret-before":0,"secret-after":"secret-value"}');
    const edit = { merge_patch: { 'secret-after': 'secret-value' }, headers: { tenant: 'secret-tenant' } };
    const filter = { exchange: 'orders', younger_than: '1h' };
    const { id } = await redriven({ filter, edit });
    await post({ ids: ['1'], edit: { payload: 'secret' } });
    const [moved] = written.filter(({ action }) => action === 'messages edited');
    expect(moved).toMatchObject({
      user: 'guest',
      names: { vhost: '/', name: 'dead' },
      details: { task: id, edited: 31 },
    });
    const rows = moved?.details?.['messages'] as object[];
    expect(rows).toHaveLength(31);
    expect(rows[0]).toEqual({
      id: '1',
      payload_sha256_before: sum('{"secret-before":0}'),
      payload_sha256: sum('{"secret-before":0,"secret-after":"secret-value"}'),
    });
    const [end] = written.filter(({ action }) => action === 'redrive done');
    const noted = { headers: ['tenant'], keep_original: false, payload_sha256: null };
    expect(end).toMatchObject({ details: { task: id, moved: 31, left: 0, edit: noted } });
    const { body } = await rooms.call('GET', '/dlx/audit');
    const shown = (body as { items: AuditEntry[] }).items.find(({ action }) => action === 'messages edited');
    expect(shown?.details).toMatchObject({ edited: 31 });
    expect(shown?.details?.['messages']).toHaveLength(10);
    const states = await rooms.call('GET', '/dlx/redrives');
    expect(JSON.stringify([written, body, states.body])).not.toMatch(/secret/);
  });
});

describe('who may edit', () => {
  it.each([
    ['with edits off', { edits: false }, ['administrator'], 403],
    ['without the tag', {}, ['management'], 401],
    ['with the tag', {}, ['management', 'editor'], 201],
  ] as const)('%s', async (_, options, tags, status) => {
    arrange(options);
    letDie('{"a":1}');
    const { access } = rooms.broker;
    access.setUser('ada', { tags: [...tags], passwordHash: access.user('guest')!.passwordHash });
    access.setPermissions('ada', '/', { configure: '', write: '.*', read: '.*' });
    for (const edit of [{ payload: '{}' }, { merge_patch: { a: 2 } }]) {
      const dry = await post({ ids: ['1'], edit, dry_run: true }, 'ada:guest');
      expect(dry.status).toBe(status === 201 ? 200 : status);
      if (status !== 201) expect((await post({ ids: ['1'], edit }, 'ada:guest')).status).toBe(status);
    }
    expect((await post({ ids: ['1'], edit: { merge_patch: { a: 2 } } }, 'ada:guest')).status).toBe(status);
    expect(depths()).toEqual(status === 201 ? [0, 1] : [1, 0]);
  });
});

describe('bad input is refused with its name', () => {
  const patch = { merge_patch: { a: 2 } };
  const deep = (levels: number): object => (levels === 0 ? { a: 1 } : { a: deep(levels - 1) });

  it.each<[string, object, string]>([
    ['no id and no filter', { edit: patch }, "name the messages to edit, by 'ids' or by a 'filter'"],
    ['an empty filter', { filter: {}, edit: patch }, "name the messages to edit, by 'ids' or by a 'filter'"],
    ['a body without an id', { filter: { text: 'x' }, edit: { payload: 'x' } }, 'name it in'],
    ['a body for two ids', { ids: ['1', '2'], edit: { payload: 'x' } }, "'edit.payload' is the body of one message"],
    ['a body and a patch', { ids: ['1'], edit: { payload: 'x', ...patch } }, 'exclude each other'],
    ['an empty patch', { ids: ['1'], edit: { merge_patch: {} } }, "'edit' changes nothing"],
    ['nothing', { ids: ['1'], edit: {} }, "'edit' changes nothing"],
    ['no object', { ids: ['1'], edit: 'x' }, "'edit' should be an object"],
    ['a patch that is an array', { ids: ['1'], edit: { merge_patch: [] } }, "'edit.merge_patch' should be an object"],
    ['an unknown key', { ids: ['1'], edit: { patch: {} } }, "unknown key of 'edit' 'patch'"],
    ['a deep patch', { ids: ['1'], edit: { merge_patch: deep(40) } }, 'nested more than 32 levels deep'],
    [
      'a large patch',
      { ids: ['1'], edit: { merge_patch: Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [n, 1])) } },
      'more than 1000 names',
    ],
    ['a rounded number', { ids: ['1'], edit: { merge_patch: { a: 2 ** 53 } } }, 'a number beyond 2^53'],
    ['__proto__', { ids: ['1'], edit: { merge_patch: JSON.parse('{"b":{"__proto__":{"x":1}}}') } }, "sets '__proto__'"],
    ['a locked header', { ids: ['1'], edit: { headers: { 'dlx-attempt': 1 } } }, "header 'dlx-attempt' is locked"],
    ['the removal of one', { ids: ['1'], edit: { headers: { 'x-death': null } } }, "header 'x-death' is locked"],
    ['CC', { ids: ['1'], edit: { ...patch, headers: { CC: 'x' } } }, "header 'CC' is locked"],
    ['BCC', { ids: ['1'], edit: { ...patch, headers: { BCC: null } } }, "header 'BCC' is locked"],
    ['a header that is an array', { ids: ['1'], edit: { headers: { a: [] } } }, "'edit.headers.a' should be a string"],
    [
      'keep_history',
      { ids: ['1'], edit: patch, keep_history: true, to: { exchange: '', routing_key: 'work' } },
      'exclude',
    ],
  ])('%s', async (_, body, reason) => {
    letDie('{"a":1}');
    for (const dry_run of [true, false]) {
      const answer = await post({ ...body, dry_run });
      expect([answer.status, answer.reason]).toEqual([400, expect.stringContaining(reason)]);
    }
    expect(depths()).toEqual([1, 0]);
  });
});
