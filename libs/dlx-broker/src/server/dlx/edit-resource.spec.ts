import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Channel, type Journal, silentOutbox } from '../../engine/broker/index.js';
import { longstr, type Properties, StoredBody, toFieldTable } from '../../engine/message/index.js';
import { type ApiHarness, apiHarness, type HarnessOptions } from '../../../../../test/harnesses/api-harness.js';
import { declareDying, rejectAll } from '../../../../../test/harnesses/dying.js';

let rooms: ApiHarness;
let channel: Channel;

function arrange(options: HarnessOptions = {}): void {
  rooms = apiHarness({ edits: true, ...options });
  channel = rooms.broker.connect().openChannel(silentOutbox);
  channel.declareExchange('orders', { type: 'topic' });
  declareDying(channel, ['work']);
  channel.bindQueue('work', 'orders', 'order.#');
}
beforeEach(() => arrange());

/** Publishes a message that dies in `work` and waits in `dead`. */
function letDie(body: string | Uint8Array, properties: Properties = {}): void {
  channel.publish('orders', 'order.created', properties, Buffer.from(body));
  rejectAll(channel, 'work');
}

const path = (id: number | string = 1, queue = 'dead') => `/dlx/queues/%2F/${encodeURIComponent(queue)}/messages/${id}`;
const edit = (body: unknown, as?: string, id: number | string = 1) =>
  rooms.call('POST', `${path(id)}/edit`, { body, ...(as !== undefined && { as }) });
const shown = async (id: number, queue: string) => (await rooms.call('GET', path(id, queue))).body;
const depths = (): readonly number[] =>
  ['dead', 'work'].map((name) => rooms.broker.virtualHost('/').queues.get(name)!.length);
const entries = async (action: string) => {
  const { body } = await rooms.call('GET', `/dlx/audit?action=${encodeURIComponent(action)}`);
  return (body as { items: { number: number; details: Record<string, unknown> }[] }).items;
};
const sum = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex');
const login = (
  name: string,
  rights: { read?: string; write?: string } = {},
  tags = ['management', 'editor'],
): string => {
  const { access } = rooms.broker;
  access.setUser(name, { tags, passwordHash: access.user('guest')!.passwordHash });
  access.setPermissions(name, '/', { configure: '', read: '.*', write: '.*', ...rights });
  return `${name}:guest`;
};

describe('an edit', () => {
  it('replaces the message at its origin by one with another body, in a new start, and links both in the audit log', async () => {
    const headers = toFieldTable({ tenant: 7, 'dlx-redrives': 2, 'dlx-error-class': 'TypeError' });
    letDie('{"order":1}', { headers, contentType: 'application/json', deliveryMode: 2, priority: 3 });
    const answer = await edit({ payload: '{"order":2}' });
    const { task, audit } = answer.body as { task: string; audit: number };
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.body).toEqual({
      id: '1',
      dry_run: false,
      moved: true,
      exchange: 'orders',
      routing_key: 'order.created',
      destinations: ['work'],
      other_destinations: 0,
      task,
      audit,
    });
    expect(depths()).toEqual([0, 1]);
    expect(await shown(2, 'work')).toMatchObject({
      exchange: 'orders',
      routing_key: 'order.created',
      payload: '{"order":2}',
      deaths: [],
      redrives: 3,
      properties: { content_type: 'application/json', delivery_mode: 2, priority: 3 },
      headers: {
        tenant: { type: 'signedint', value: 7 },
        'dlx-redrives': { type: 'signedint', value: 3 },
        'dlx-edited': { type: 'signedint', value: 1 },
        'dlx-edited-by': { type: 'longstr', value: 'guest' },
        'dlx-edited-at': { type: 'timestamp', value: Math.floor(rooms.clock.now() / 1000) },
        'dlx-original-sha256': { type: 'longstr', value: sum('{"order":1}') },
        'dlx-redriven-from': { type: 'longstr', value: 'dead' },
        'dlx-redriven-by': { type: 'longstr', value: 'guest' },
        'dlx-redriven-task': { type: 'longstr', value: task },
      },
    });
    const [request, done] = await Promise.all([entries('/edit'), entries('message edited')]);
    expect(request).toMatchObject([{ status: 200, details: { dry_run: false, to: null, headers: [] } }]);
    expect(done).toEqual([
      {
        number: audit,
        time: rooms.clock.now(),
        user: 'guest',
        from: '127.0.0.1',
        action: 'message edited',
        names: { vhost: '/', name: 'dead', id: '1' },
        details: {
          task,
          exchange: 'orders',
          routing_key: 'order.created',
          destinations: ['work'],
          other_destinations: 0,
          payload_sha256_before: sum('{"order":1}'),
          payload_sha256: sum('{"order":2}'),
        },
      },
    ]);
    expect(JSON.stringify([request, done])).not.toContain('{"order"');
  });

  it('changes the headers that it names; the others and the properties keep their wire types, and the body is shared', async () => {
    const headers = new Map([
      ['small', { type: 'b', value: 5 }] as const,
      ['old', longstr('x')] as const,
      ...toFieldTable({ 'dlx-error-class': 'E', 'dlx-redrives': 2, 'x-trace': 't' }),
    ]);
    letDie(Buffer.from([0xff, 0]), { headers, messageId: 'm', timestamp: 5, expiration: '60000' });
    const changes = '{"__proto__":"x","n":-3,"flag":true,"half":0.5,"old":null}';
    expect((await edit(`{"headers":${changes}}`)).body).toMatchObject({ moved: true });
    const letter = (await shown(2, 'work')) as { headers: Record<string, unknown>; properties: unknown };
    expect(letter).toMatchObject({ payload: Buffer.from([0xff, 0]).toString('base64'), deaths: [], redrives: 3 });
    const own = Object.entries(letter.headers).filter(([name]) => !name.startsWith('dlx-'));
    expect(own).toEqual([
      ['small', { type: 'byte', value: 5 }],
      ['x-trace', { type: 'longstr', value: 't' }],
      ['__proto__', { type: 'longstr', value: 'x' }],
      ['n', { type: 'signedint', value: -3 }],
      ['flag', { type: 'bool', value: true }],
      ['half', { type: 'double', value: 0.5 }],
    ]);
    // A dead letter has no expiration any more (rule H3).
    expect(letter.properties).toEqual({ message_id: 'm', timestamp: 5 });
  });

  it.each(['dlx-redrives', 'dlx-attempt', 'dlx-first-exchange', 'dlx-edited', 'x-death', 'x-delay', 'CC', 'BCC'])(
    'refuses to set or to remove a locked header: %s',
    async (name) => {
      letDie('x', { headers: toFieldTable({ 'dlx-redrives': 2, n: 1 }) });
      for (const value of ['dead', null]) {
        const { status, body } = await edit({ headers: { [name]: value } });
        expect([status, (body as { reason: string }).reason]).toEqual([
          400,
          expect.stringContaining(`header '${name}' is locked`),
        ]);
      }
      expect(depths()).toEqual([1, 0]);
    },
  );

  it('counts edits, with the sum of the body before the last one', async () => {
    letDie('one', { headers: toFieldTable({ 'dlx-error-class': 'E' }) });
    const note = (body: string, count: number) => ({
      'dlx-edited': { value: count },
      'dlx-original-sha256': { value: sum(body) },
    });
    expect((await edit({ payload: 'two' })).body).toMatchObject({ moved: true });
    expect(await shown(2, 'work')).toMatchObject({ payload: 'two', headers: note('one', 1) });
    rejectAll(channel, 'work');
    expect((await edit({ payload: 'three' }, undefined, 2)).body).toMatchObject({ moved: true });
    expect(await shown(3, 'work')).toMatchObject({ payload: 'three', headers: note('two', 2) });
  });

  it('goes to another address if it says so', async () => {
    channel.declareQueue('other');
    letDie('x');
    const to = { exchange: '', routing_key: 'other' };
    expect((await edit({ payload: 'y', to })).body).toMatchObject({ moved: true, ...to, destinations: ['other'] });
    expect(await shown(1, 'other')).toMatchObject({ payload: 'y' });
  });

  it('only says where it would go in a dry run', async () => {
    letDie('x');
    const vhost = rooms.broker.virtualHost('/');
    const counts = () =>
      JSON.stringify([vhost.counters.publish, vhost.counters.returnUnroutable, vhost.queues.get('dead')!.counters]);
    const before = counts();
    const { status, body } = await edit({ payload: 'y', dry_run: true });
    expect([status, body]).toEqual([
      200,
      {
        id: '1',
        dry_run: true,
        moved: false,
        exchange: 'orders',
        routing_key: 'order.created',
        destinations: ['work'],
        other_destinations: 0,
        task: null,
        audit: null,
      },
    ]);
    expect([counts(), depths()]).toEqual([before, [1, 0]]);
    expect(await entries('message edited')).toEqual([]);
    expect(await shown(1, 'dead')).toMatchObject({ payload: 'x' });
  });
});

describe('the original stays', () => {
  it.each<[string, { to: object }, object]>([
    ['when no queue would get the new one', { to: { exchange: 'orders', routing_key: 'x' } }, { why: 'unroutable' }],
    ['when a full queue refuses it', { to: { exchange: '', routing_key: 'full' } }, { why: 'refused' }],
  ])('%s', async (_, body, expected) => {
    channel.declareQueue('full', { arguments: toFieldTable({ 'x-max-length': 0, 'x-overflow': 'reject-publish' }) });
    letDie('x');
    expect((await edit({ payload: 'y', ...body })).body).toMatchObject({
      moved: false,
      audit: null,
      ...body.to,
      ...expected,
    });
    expect([depths(), await entries('message edited')]).toEqual([[1, 0], []]);
  });

  it('when its origin is missing, unproven, or an exchange that is gone', async () => {
    channel.publish('', 'dead', {}, Buffer.from('no origin'));
    const claimed = toFieldTable({ 'dlx-first-exchange': '', 'dlx-first-routing-key': 'work' });
    channel.publish('', 'dead', { headers: claimed }, Buffer.from('claimed'));
    letDie('x');
    const why = async (id: number) => (await edit({ payload: 'y' }, undefined, id)).body;
    const nowhere = { exchange: null, routing_key: null, destinations: [], moved: false };
    expect(await why(1)).toMatchObject({ ...nowhere, why: 'no_origin' });
    expect(await why(2)).toMatchObject({ ...nowhere, why: 'unproven_origin' });
    channel.deleteExchange('orders');
    expect(await why(3)).toMatchObject({ moved: false, exchange: 'orders', why: 'no_exchange' });
    expect(depths()).toEqual([3, 0]);
  });

  it('when it was never there (404), has left (409), or is with a consumer (409)', async () => {
    letDie('x');
    expect((await edit({ payload: 'y' }, undefined, 2)).status).toBe(404);
    expect((await edit({ payload: 'y' }, undefined, 'x')).status).toBe(400);
    const got = channel.get('dead')!;
    const held = await edit({ payload: 'y' });
    expect(held).toMatchObject({ status: 409, body: { error: 'conflict' } });
    expect((held.body as { reason: string }).reason).toContain("message 1 of queue 'dead' is with a consumer");
    channel.nack(got.deliveryTag, false, true);
    expect((await edit({ payload: 'y' })).status).toBe(200);
    const again = await edit({ payload: 'y' });
    expect(again.status).toBe(409);
    expect((again.body as { reason: string }).reason).toContain('or has left the queue. Nothing was changed');
    expect((await rooms.call('POST', `${path(1, 'nowhere')}/edit`, { body: {} })).status).toBe(404);
    expect(depths()).toEqual([0, 1]);
  });

  it('when it waits for a delayed retry (409): it is ready again later', async () => {
    rooms = apiHarness({ rabbitmq: '4', edits: true });
    channel = rooms.broker.connect().openChannel(silentOutbox);
    channel.declareQueue('work', { durable: true });
    const args = toFieldTable({
      'x-queue-type': 'quorum',
      'x-delayed-retry-type': 'all',
      'x-delayed-retry-min': 1_000,
    });
    channel.declareQueue('slow', { durable: true, arguments: args });
    channel.publish('', 'slow', {}, Buffer.from('x'));
    channel.nack(channel.get('slow')!.deliveryTag, false, true);
    const body = { payload: 'y', to: { exchange: '', routing_key: 'work' } };
    const ask = async () => (await rooms.call('POST', `${path(1, 'slow')}/edit`, { body })).status;
    expect(await ask()).toBe(409);
    rooms.clock.advance(1_000);
    expect(await ask()).toBe(200);
    expect(await shown(1, 'work')).toMatchObject({ payload: 'y' });
  });

  it('when its body cannot be read from disk, now or ever', async () => {
    letDie('x');
    const { message } = rooms.broker.virtualHost('/').queues.get('dead')!.find(1)!;
    for (const [isLost, status] of [
      [false, 503],
      [true, 409],
    ] as const) {
      class Unreadable extends StoredBody {
        readonly length = 1;
        read(): never {
          throw Object.assign(new Error('a bad sector'), { isLost });
        }
      }
      message.pageOut(new Unreadable());
      const answer = await edit({ payload: 'y' });
      expect([answer.status, (answer.body as { reason: string }).reason]).toEqual([
        status,
        expect.stringContaining('a bad sector'),
      ]);
    }
    expect(depths()).toEqual([1, 0]);
  });

  it('during a memory alarm; a dry run keeps nothing and is answered', async () => {
    let alarms: readonly string[] = [];
    arrange({ host: { alarms: () => alarms } });
    letDie('x');
    alarms = ['memory'];
    expect(await edit({ payload: 'y' })).toMatchObject({ status: 503, body: { error: 'resource_alarm' } });
    expect((await edit({ payload: 'y', dry_run: true })).status).toBe(200);
    expect(depths()).toEqual([1, 0]);
  });
});

describe('with a journal', () => {
  const nothing = (): void => {};
  let moves: string[];
  let commits: string[][];
  let failure: Error | undefined;
  let refuses: boolean;

  function journal(): Journal {
    moves = [];
    commits = [];
    failure = undefined;
    refuses = false;
    let sequence = 0;
    return {
      get sequence() {
        return sequence;
      },
      refuses: () => refuses,
      changed: nothing,
      enqueued: ({ name }) => void (sequence++, moves.push(`+${name}`)),
      delivered: nothing,
      returned: nothing,
      died: nothing,
      settled: ({ name }) => void (sequence++, moves.push(`-${name}`)),
      commit: (settled) => {
        if (moves.length > 0) commits.push(moves);
        moves = [];
        settled?.(failure);
      },
    };
  }

  it('the old message goes and the new one comes in one commit', async () => {
    arrange({ journal: journal() });
    letDie('x');
    commits.length = 0;
    expect((await edit({ payload: 'y' })).body).toMatchObject({ moved: true });
    expect(commits).toEqual([['-dead', '+work']]);
  });

  it('a full disk refuses the new message, and the old one stays', async () => {
    arrange({ journal: journal() });
    letDie('x');
    refuses = true;
    expect((await edit({ payload: 'y' })).body).toMatchObject({ moved: false, why: 'refused' });
    expect(depths()).toEqual([1, 0]);
  });

  it('a disk that fails in this commit is an error, and the audit log says so', async () => {
    arrange({ journal: journal() });
    letDie('x');
    failure = new Error('the disk failed: EIO');
    expect(await edit({ payload: 'y' })).toMatchObject({ status: 500, body: { reason: 'the disk failed: EIO' } });
    const [edited] = await entries('message edited');
    expect(await entries('message edit not stored')).toMatchObject([
      { number: edited!.number + 1, details: { edit: edited!.number, task: edited!.details['task'] } },
    ]);
  });
});

describe('JSON stays JSON', () => {
  it.each<[string, string, string, boolean]>([
    ['an object', '{"a":1}', '', true],
    ['an array', ' [1]', '', true],
    ['a string, by its content type', '"text"', 'application/json', true],
    ['a lone number without a content type', '42', '', false],
    ['a string that only looks like it', '{a}', 'application/json', false],
  ])('if the body was JSON: %s', async (_, old, contentType, wasJson) => {
    letDie(old, contentType === '' ? {} : { contentType });
    const answer = await edit({ payload: '{"a":1,}' });
    expect(answer.status).toBe(wasJson ? 400 : 200);
    if (!wasJson) return;
    expect((answer.body as { reason: string }).reason).toContain("'payload' is not JSON, and it replaces JSON: ");
    expect((await edit({ payload: '{"a":1,}', dry_run: true })).status).toBe(400);
    expect((await edit({ payload: '7', dry_run: true })).status).toBe(200);
    expect(depths()).toEqual([1, 0]);
  });
});

describe('edits are off', () => {
  it('by default, at the port, and the answer says how to allow them', async () => {
    arrange({ edits: false });
    letDie('x');
    for (const dry_run of [true, false]) {
      const answer = await edit({ payload: 'y', dry_run });
      expect(answer).toMatchObject({ status: 403, body: { error: 'edits_off' } });
      expect((answer.body as { reason: string }).reason).toContain('serve --edits');
    }
    expect(depths()).toEqual([1, 0]);
    expect((await rooms.call('GET', '/dlx/capabilities')).body).toMatchObject({ edits: false });
  });

  it.each<[string, string[], boolean]>([
    ['a user with the rights of a redrive only', ['management'], false],
    ['a monitoring user', ['monitoring', 'policymaker'], false],
    ['a user with the tag editor alone, which is no login', ['editor'], false],
    ['a user with the tag editor besides', ['management', 'editor'], true],
    ['an administrator', ['administrator'], true],
  ])('for %s', async (_, tags, may) => {
    letDie('x');
    const as = login('ada', {}, tags);
    expect((await edit({ payload: 'y' }, as)).status).toBe(may ? 200 : 401);
    expect(depths()).toEqual(may ? [0, 1] : [1, 0]);
    if (tags[0] === 'editor') return;
    expect((await rooms.call('GET', '/dlx/capabilities', { as })).body).toMatchObject({ edits: may });
  });
});

describe('a user needs the right', () => {
  beforeEach(() => letDie('x'));

  it.each<[string, { read?: string; write?: string }, object, number]>([
    ['to read the queue', { read: 'work' }, {}, 401],
    ['to write to the origin', { write: 'dead' }, {}, 401],
    ['to write to another address', { write: 'orders' }, { to: { exchange: '', routing_key: 'work' } }, 401],
    ['nothing more than these two', { read: 'dead', write: 'orders' }, {}, 200],
  ])('%s', async (_, rights, body, status) => {
    const as = login('ada', rights);
    expect((await edit({ payload: 'y', ...body, dry_run: true }, as)).status).toBe(status);
    expect((await edit({ payload: 'y', ...body }, as)).status).toBe(status);
    expect(depths()).toEqual(status === 200 ? [0, 1] : [1, 0]);
  });

  it('to the routing key at a topic exchange (rule N5)', async () => {
    const as = login('ada');
    rooms.broker.access.topics.set('ada', '/', { exchange: 'orders', write: '^public', read: '.*' });
    const to = { exchange: 'orders', routing_key: 'order.created' };
    for (const body of [{}, { to }]) expect((await edit({ payload: 'y', ...body }, as)).status).toBe(401);
    expect(depths()).toEqual([1, 0]);
  });

  it('to log in with a tag, and to enter the virtual host', async () => {
    expect((await edit({}, login('ada', {}, []))).status).toBe(401);
    const as = login('bob', {}, ['monitoring']);
    rooms.broker.access.deletePermissions('bob', '/');
    expect((await edit({}, as)).status).toBe(401);
    expect((await edit({}, '')).status).toBe(401);
    expect(depths()).toEqual([1, 0]);
  });

  it('to keep the user id of another user (rule K7): the broker vouches for it', async () => {
    const userId = async (as: string): Promise<unknown> => {
      letDie('from bob', { userId: 'bob' });
      const { lastPosition } = rooms.broker.virtualHost('/').queues.get('dead')!;
      expect((await edit({ payload: 'changed' }, as, lastPosition)).body).toMatchObject({ moved: true });
      return channel.get('work', { noAck: true })!.message.properties.userId;
    };
    expect(await userId(login('ada'))).toBeUndefined();
    expect(await userId(login('bob'))).toBe('bob');
    expect(await userId(login('eve', {}, ['management', 'editor', 'impersonator']))).toBe('bob');
  });
});

describe('bad input is refused with its name', () => {
  beforeEach(() => letDie('{}'));

  it.each<[string, unknown, string]>([
    ['an unknown key', { payloads: 'x' }, "unknown key 'payloads'; known are payload, headers, to, dry_run"],
    ['__proto__ as a key', '{"__proto__":{"payload":"x"}}', "unknown key '__proto__'"],
    ['a payload that is no text', { payload: { a: 1 } }, "'payload' should be a string"],
    ['half of a pair', '{"payload":"\\ud800"}', "'payload' has half of a surrogate pair"],
    ['headers that are a list', { headers: [] }, "'headers' should be an object"],
    ['headers that are null', { headers: null }, "'headers' should be an object"],
    ['no body at all', {}, 'the edit changes nothing; POST /api/dlx/redrives sends a message as it is'],
    ['the same body', { payload: '{}' }, 'the edit changes nothing'],
    ['a long name', { headers: { ['n'.repeat(256)]: 1 } }, 'has a name of more than 255 bytes'],
    ['an address without a key', { to: { exchange: '' } }, "'to' should have the strings"],
    ['an address that is not there', { to: { exchange: 'x', routing_key: '' } }, "no exchange 'x' in vhost '/'"],
    ['a long exchange', { to: { exchange: 'e'.repeat(256), routing_key: '' } }, "'to.exchange' is longer than 255"],
    ['a long key', { to: { exchange: '', routing_key: 'k'.repeat(256) } }, "'to.routing_key' is longer than 255"],
    ['a dry run in words', { dry_run: 'yes' }, "'dry_run' should be true or false"],
    ['a list', [], 'not_json'],
    ['no JSON', '{', 'not_json'],
    ['JSON without end', `{"headers":${'{"a":'.repeat(5_000)}`, 'nested more than'],
    ['long headers', { headers: { n: 'x'.repeat(131_072) } }, "'headers' are longer than 131072 characters"],
    ['a body that is too long', { payload: `"${'x'.repeat(2_000_000)}"` }, 'message size 2000002 is larger than'],
  ])('%s', async (_, body, reason) => {
    const answer = await edit(body);
    expect([answer.status, (answer.body as { reason: string }).reason]).toEqual([400, expect.stringContaining(reason)]);
    expect(depths()).toEqual([1, 0]);
  });

  it('a parameter of the query', async () => {
    const answer = await rooms.call('POST', `${path()}/edit?dry_run=true`, { body: {} });
    expect(answer).toMatchObject({ status: 400, body: { reason: "unknown parameter 'dry_run'; known are " } });
  });

  it('a body above the limit, and another text in place of a body that is none, or too long', async () => {
    const answer = await edit({ payload: 'x'.repeat(20_000_000) });
    expect(answer).toMatchObject({ status: 400, body: { reason: 'Exceeded HTTP request body size limit' } });
    letDie(Buffer.from([0xff]));
    letDie('x'.repeat(2_000_001));
    for (const [id, reason] of [
      [2, "'payload' replaces text, and the body of the message is none"],
      [3, 'the body has 2000001 bytes, and an edit here at most 2000000'],
    ] as const) {
      const refused = await edit({ payload: 'y' }, undefined, id);
      expect([refused.status, (refused.body as { reason: string }).reason]).toEqual([
        400,
        expect.stringContaining(reason),
      ]);
    }
    expect(depths()).toEqual([3, 0]);
  });
});
