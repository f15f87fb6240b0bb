import { beforeEach, describe, expect, it } from 'vitest';
import { type Channel, silentOutbox } from '../../../engine/broker/index.js';
import { toFieldTable } from '../../../engine/message/index.js';
import { type ApiHarness, apiHarness } from '../../../../../../test/harnesses/api-harness.js';
import { declareDying, rejectAll } from '../../../../../../test/harnesses/dying.js';
import { listenHttp } from '../../http/http-listener.js';

interface Task {
  readonly id: string;
  readonly state: string;
  readonly [key: string]: unknown;
}

describe('/api/dlx/redrives', () => {
  let rooms: ApiHarness;
  let channel: Channel;

  beforeEach(() => {
    rooms = apiHarness();
    channel = rooms.broker.connect().openChannel(silentOutbox);
    declareDying(channel, ['work']);
  });

  const letDie = (count: number): void => {
    for (let number = 1; number <= count; number++) channel.publish('', 'work', {}, Buffer.from(`${number}`));
    rejectAll(channel, 'work');
  };
  const depth = (name: string): number => rooms.broker.virtualHost('/').queues.get(name)!.length;
  const post = (body: unknown, as = 'guest:guest', path = '') =>
    rooms.call('POST', `/dlx/redrives${path}`, { body, as });
  const begin = async (body: Record<string, unknown> = {}, as?: string): Promise<Task> => {
    const answer = await post({ vhost: '/', queue: 'dead', ...body }, as);
    expect(answer).toMatchObject({ status: 201, body: { state: 'running' } });
    const task = answer.body as Task;
    expect(answer.headers.get('location')).toBe(`/api/dlx/redrives/${task.id}`);
    return task;
  };
  const show = async (id: string): Promise<Task> => (await rooms.call('GET', `/dlx/redrives/${id}`)).body as Task;
  const login = (name: string, permissions: { write?: string; read?: string } = {}, tag = 'management'): string => {
    const { access } = rooms.broker;
    access.setUser(name, { tags: [tag], passwordHash: access.user('guest')!.passwordHash });
    access.setPermissions(name, '/', { configure: '', write: '.*', read: '.*', ...permissions });
    return `${name}:guest`;
  };

  it('begins one, shows its progress, and keeps it in the list', async () => {
    letDie(10);
    const { id } = await begin({ rate: 10 });
    rooms.clock.advance(500);
    expect(await show(id)).toMatchObject({
      vhost: '/',
      queue: 'dead',
      state: 'running',
      by: 'guest',
      rate: 10,
      circuit: { percent: 50, at_least: 20 },
      ready_at_start: 10,
      moved: 6,
      destinations: [{ name: 'work', count: 6 }],
    });
    rooms.clock.advance(500);
    expect(await show(id)).toMatchObject({ state: 'done', moved: 10, left: 0, ended_at: rooms.clock.now() - 100 });
    const next = await begin({ rate: 0 });
    const { body } = await rooms.call('GET', '/dlx/redrives');
    expect((body as Task[]).map((task) => task.id)).toEqual([next.id, id]);
    expect((await rooms.call('GET', '/dlx/redrives/none')).status).toBe(404);
  });

  it('takes a filter, ids, a target, a limit and a circuit', async () => {
    letDie(5);
    await begin({ filter: { text: '4', headers: { 'x-death': null } }, rate: 0 });
    rooms.clock.advance(0);
    expect([depth('work'), depth('dead')]).toEqual([1, 4]);
    await begin({ ids: ['1', '2', '99'], to: { exchange: '', routing_key: 'work' }, rate: 0, circuit: false });
    rooms.clock.advance(0);
    expect([depth('work'), depth('dead')]).toEqual([3, 2]);
    const { id } = await begin({ limit: 1, circuit: { percent: 10 } });
    rooms.clock.advance(0);
    expect(await show(id)).toMatchObject({ moved: 1, limit: 1, circuit: { percent: 10, at_least: 20 } });
  });

  it('puts messages aside with all that is known of them', async () => {
    letDie(1);
    channel.declareQueue('parked', {});
    await begin({ to: { exchange: '', routing_key: 'parked' }, keep_history: true });
    rooms.clock.advance(0);
    const { body } = await rooms.call('GET', '/dlx/queues/%2F/parked/messages');
    expect(body).toMatchObject({
      items: [
        { deaths: [{ reason: 'rejected', queue: 'work' }], origin: { exchange: '', routing_key: 'work' }, redrives: 0 },
      ],
    });
    const { headers } = (body as { items: { headers: Record<string, { value: unknown }> }[] }).items[0]!;
    expect(headers['dlx-redriven-by']!.value).toBe('guest');
  });

  it('rehearses: counts by destination, the unroutable by their address, and nothing has moved', async () => {
    letDie(3);
    channel.publish('', 'dead', {}, Buffer.from('no origin'));
    const { status, body } = await post({ vhost: '/', queue: 'dead', dry_run: true });
    expect([status, body]).toMatchObject([
      200,
      {
        state: 'done',
        dry_run: true,
        moved: 3,
        left: 1,
        destinations: [{ name: 'work', count: 3 }],
        left_at: [{ why: 'no_origin', exchange: null, routing_key: null, count: 1, example_id: '4' }],
      },
    ]);
    const to = { exchange: 'amq.direct', routing_key: 'nowhere' };
    const nowhere = await post({ vhost: '/', queue: 'dead', dry_run: 'true', to });
    expect(nowhere.body).toMatchObject({
      moved: 0,
      left: 4,
      left_at: [{ why: 'unroutable', exchange: 'amq.direct', routing_key: 'nowhere', count: 4 }],
    });
    expect([depth('dead'), depth('work')]).toEqual([4, 0]);
    expect((await rooms.call('GET', '/dlx/redrives')).body).toEqual([]);
  });

  /** Two queues of dead letters, with two reasons in one of them. */
  const severalDead = (): void => {
    declareDying(channel, ['bills'], 'bills.dead');
    channel.declareQueue('brief', {
      arguments: toFieldTable({
        'x-message-ttl': 1,
        'x-dead-letter-exchange': '',
        'x-dead-letter-routing-key': 'dead',
      }),
    });
    letDie(4);
    for (let number = 0; number < 3; number++) channel.publish('', 'bills', {}, Buffer.from('bill'));
    rejectAll(channel, 'bills');
    for (let number = 0; number < 2; number++) channel.publish('', 'brief', {}, Buffer.from('brief'));
    rooms.clock.advance(1);
  };
  const expired = { vhost: '/', queue: 'dead', filter: { reason: 'expired' } };
  const rejected = { vhost: '/', queue: 'dead', filter: { reason: 'rejected' } };
  const bills = { vhost: '/', queue: 'bills.dead' };

  it('counts several groups in one dry run, a message in the first that it fits', async () => {
    severalDead();
    const groups = [bills, expired, { vhost: '/', queue: 'dead' }, rejected, { ...bills, ids: ['1'] }];
    const { status, body } = await post({ groups, dry_run: true });
    expect(status).toBe(200);
    expect(body).toMatchObject({ vhost: '/', queue: null, filter: null, ids: null, moved: 9, left: 0, may_refuse: [] });
    const { groups: counted, destinations } = body as Task & { groups: Task[] };
    expect(counted.map(({ queue, moved }) => [queue, moved])).toEqual([
      ['bills.dead', 3],
      ['dead', 2],
      ['dead', 4],
      ['dead', 0],
      ['bills.dead', 0],
    ]);
    expect(destinations).toEqual([
      { vhost: '/', name: 'bills', count: 3 },
      { vhost: '/', name: 'brief', count: 2 },
      { vhost: '/', name: 'work', count: 4 },
    ]);
    expect([depth('dead'), depth('bills.dead')]).toEqual([6, 3]);
  });

  it('moves several groups one after the other, as the dry run said, with limits of each and of all', async () => {
    severalDead();
    const limited = { groups: [{ ...rejected, limit: 3 }, bills, expired], limit: 7, rate: 0, circuit: false };
    const planned = (await post({ ...limited, dry_run: true })).body as Task;
    const { body } = await post(limited);
    const { id } = body as Task;
    rooms.clock.advance(100);
    const done = (await show(id)) as Task & { groups: Task[] };
    expect(done).toMatchObject({ state: 'done', moved: 7, queue: null });
    expect(done.groups.map(({ moved }) => moved)).toEqual([3, 3, 1]);
    expect(planned).toMatchObject({ moved: 7, groups: done.groups.map(({ moved }) => ({ moved })) });
    rooms.clock.advance(1); // what came to `brief` has expired again
    expect([depth('work'), depth('bills'), depth('dead')]).toEqual([3, 3, 3]);
    const { items } = (await rooms.call('GET', '/dlx/audit?vhost=/')).body as { items: Record<string, unknown>[] };
    expect(items[0]).toMatchObject({
      action: 'redrive done',
      names: { vhost: '/' },
      details: { groups: 3, moved: 7 },
    });
    expect(items[1]).toMatchObject({ details: { groups: [{ queue: 'dead' }, bills, expired], more_groups: 0 } });
  });

  it('leaves to later groups nothing that comes back dead from an earlier one', async () => {
    severalDead();
    // What is redriven to `brief` expires there again at once.
    const groups = [expired, { vhost: '/', queue: 'dead' }];
    const { id } = (await post({ groups, rate: 2, circuit: false })).body as Task;
    rooms.clock.advance('1m');
    expect(await show(id)).toMatchObject({ state: 'done', moved: 6, groups: [{ moved: 2 }, { moved: 4 }] });
    expect([depth('dead'), depth('work')]).toEqual([2, 4]);
  });

  it('pauses, resumes and stops a redrive of several groups, each of whose queues is taken', async () => {
    severalDead();
    const { id } = (await post({ groups: [bills, rejected], rate: 1 })).body as Task;
    rooms.clock.advance(1_000);
    expect((await post({ vhost: '/', queue: 'dead' })).status).toBe(409);
    expect((await post({ groups: [expired] })).status).toBe(409);
    await post({}, 'guest:guest', `/${id}/pause`);
    rooms.clock.advance('1m');
    await post({}, 'guest:guest', `/${id}/resume`);
    rooms.clock.advance(3_000);
    expect(await show(id)).toMatchObject({ groups: [{ moved: 3 }, { moved: 2 }] });
    expect((await rooms.call('DELETE', `/dlx/redrives/${id}`)).status).toBe(204);
    expect((await post({ vhost: '/', queue: 'dead' })).status).toBe(201);
  });

  it('checks the rights of each group, and ends when one is lost', async () => {
    severalDead();
    const ann = login('ann', { read: '^dead$' });
    expect((await post({ groups: [rejected, bills] }, ann)).status).toBe(401);
    rooms.broker.access.setPermissions('ann', '/', { configure: '', write: '.*', read: '.*' });
    const { id } = (await post({ groups: [rejected, bills], rate: 1 }, ann)).body as Task;
    rooms.broker.access.setPermissions('ann', '/', { configure: '', write: '.*', read: '^dead$' });
    rooms.clock.advance('1m');
    expect(await show(id)).toMatchObject({ state: 'failed', moved: 4, groups: [{ moved: 4 }, { moved: 0 }] });
    expect(depth('bills.dead')).toBe(3);
  });

  it('hides a redrive of several virtual hosts from users who may not see all of them', async () => {
    severalDead();
    const other = rooms.broker.connect({ vhost: rooms.broker.addVirtualHost('other').name }).openChannel(silentOutbox);
    declareDying(other, ['work']);
    rooms.broker.access.setPermissions('guest', 'other', { configure: '.*', write: '.*', read: '.*' });
    other.publish('', 'work', {}, Buffer.from('x'));
    rejectAll(other, 'work');
    const groups = [bills, { vhost: 'other', queue: 'dead' }];
    const { body } = await post({ groups, rate: 0, circuit: false });
    const { id } = body as Task;
    rooms.clock.advance(100);
    expect(await show(id)).toMatchObject({
      vhost: null,
      queue: null,
      moved: 4,
      destinations: [
        { vhost: '/', name: 'bills', count: 3 },
        { vhost: 'other', name: 'work', count: 1 },
      ],
    });
    const ann = login('ann');
    expect((await rooms.call('GET', `/dlx/redrives/${id}`, { as: ann })).status).toBe(404);
    expect((await rooms.call('GET', '/dlx/redrives', { as: ann })).body).toEqual([]);
  });

  it('names the destinations that may be full before all messages have moved', async () => {
    const full = { 'x-max-length': 6, 'x-overflow': 'reject-publish' };
    channel.declareQueue('strict', { arguments: toFieldTable(full) });
    for (let number = 0; number < 3; number++) channel.publish('', 'strict', {}, Buffer.from('old'));
    const to = { exchange: '', routing_key: 'strict' };
    letDie(3);
    const dry = async (): Promise<unknown> =>
      ((await post({ vhost: '/', queue: 'dead', to, dry_run: true })).body as Task)['may_refuse'];
    expect(await dry()).toEqual([]);
    letDie(1);
    expect(await dry()).toEqual([
      { vhost: '/', name: 'strict', messages_ready: 3, max_length: 6, max_length_bytes: null },
    ]);
    const { id } = await begin({ to, rate: 0 });
    rooms.clock.advance(100);
    expect(await show(id)).toMatchObject({ moved: 3, left: 1, left_at: [{ why: 'refused' }] });
  });

  it('pauses, resumes and stops', async () => {
    letDie(100);
    const { id } = await begin({ rate: 10 });
    const other = await post({ vhost: '/', queue: 'dead' });
    expect([other.status, other.body]).toMatchObject([
      409,
      { reason: `queue 'dead' is being redriven already, by redrive '${id}'` },
    ]);
    expect((await post({}, 'guest:guest', `/${id}/pause`)).body).toMatchObject({ state: 'paused' });
    rooms.clock.advance('1m');
    expect((await post({}, 'guest:guest', `/${id}/pause`)).body).toMatchObject({
      reason: `redrive '${id}' is paused and cannot be paused`,
    });
    expect((await post({}, 'guest:guest', `/${id}/resume`)).body).toMatchObject({ state: 'running' });
    rooms.clock.advance(1_000);
    expect((await rooms.call('DELETE', `/dlx/redrives/${id}`)).status).toBe(204);
    expect((await rooms.call('DELETE', `/dlx/redrives/${id}`)).status).toBe(409);
    rooms.clock.advance('1m');
    expect(await show(id)).toMatchObject({ state: 'cancelled', reason: 'cancelled by guest', moved: 11 });
  });

  it('has the rights of the user who began it, and only this user or an administrator controls it', async () => {
    letDie(9);
    const ann = login('ann');
    const bob = login('bob', { write: 'x' });
    login('cyd', { read: 'x' });
    expect((await post({ vhost: '/', queue: 'dead' }, 'cyd:guest')).status).toBe(401);
    const to = { exchange: '', routing_key: 'work' };
    expect((await post({ vhost: '/', queue: 'dead', to }, bob)).status).toBe(401);
    const { id } = await begin({ rate: 1 }, bob);
    rooms.clock.advance(0);
    expect(await show(id)).toMatchObject({ moved: 0, left_at: [{ why: 'forbidden', count: 1 }] });
    const steer = (as: string) => rooms.call('DELETE', `/dlx/redrives/${id}`, { as });
    expect((await steer(ann)).body).toMatchObject({ reason: `redrive '${id}' was started by another user` });
    rooms.broker.access.deletePermissions('ann', '/');
    expect((await steer(ann)).status).toBe(404);
    expect((await rooms.call('GET', '/dlx/redrives', { as: ann })).body).toEqual([]);
    expect((await steer('guest:guest')).status).toBe(204);
  });

  it('is answered in full over a port', async () => {
    letDie(1);
    const listener = await listenHttp(rooms.host, { port: 0 });
    const response = await fetch(`http://127.0.0.1:${listener.port}/api/dlx/redrives`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from('guest:guest').toString('base64')}` },
      body: '{"vhost":"/","queue":"dead"}',
    });
    expect([response.status, await response.json()]).toMatchObject([201, { state: 'running' }]);
    await listener.close();
  });

  it.each([
    [{ groups: [bills], queue: 'dead' }, "'queue' belongs into each of 'groups'"],
    [{ groups: [] }, "'groups' is empty"],
    [{ groups: {} }, "'groups' should be an array"],
    [{ groups: [[]] }, "'groups[0]' should be an object"],
    [{ groups: [{ ...bills, rate: 1 }] }, /^unknown key of 'groups\[0]' 'rate'; known are vhost, /],
    [{ groups: [{ vhost: '/' }] }, "'vhost' and 'queue' should be strings"],
    [{ groups: Array.from({ length: 1_001 }, () => bills) }, "'groups' has more than 1000"],
    [
      { groups: [1, 2].map(() => ({ ...bills, ids: Array.from({ length: 5_001 }, () => '1') })) },
      "'groups' have more than 10000 ids",
    ],
  ])('refuses %j of groups', async (body, reason) => {
    severalDead();
    const expected = typeof reason === 'string' ? reason : expect.stringMatching(reason);
    expect(await post(body)).toMatchObject({ status: 400, body: { reason: expected } });
  });

  it.each([
    [{}, '[{key_missing,vhost},{key_missing,queue}]'],
    [{ queue: 1 }, "'vhost' and 'queue' should be strings"],
    [{ ids: [1] }, '1 is no id of a message: they are strings of digits'],
    [{ ids: [] }, "'ids' is empty"],
    [{ ids: '1' }, "'ids' should be an array"],
    [{ ids: ['1'], filter: {} }, "'ids' and 'filter' exclude each other"],
    [{ filter: [] }, "'filter' should be an object"],
    [{ filter: { reason: 1 } }, "'reason' should be a string"],
    [{ filter: { headers: { a: {} } } }, 'filter.headers.a should be a string or null'],
    [{ filter: { headers: { a: 'x'.repeat(1_025) } } }, 'the value of a wanted header is longer than 1024 characters'],
    [{ filter: { headers: { ['n'.repeat(256)]: null } } }, 'the name of a wanted header is longer than 255 bytes'],
    [{ filter: { resaon: 'x' } }, /^unknown key of filter 'resaon'; known are reason, /],
    [{ to: { exchange: 'x' } }, "'to' should have the strings 'exchange' and 'routing_key'"],
    [{ to: { exchange: 'e'.repeat(256), routing_key: '' } }, "'to.exchange' is longer than 255 bytes"],
    [{ to: { exchange: 'x', routing_key: '' } }, "no exchange 'x' in vhost '/'"],
    [{ rate: -1 }, "'rate' should be a whole number from 0 to 100000: -1"],
    [{ rate: 'fast' }, `'rate' should be a whole number from 0 to 100000: "fast"`],
    [{ limit: 0 }, /^'limit' should be a whole number from 1 /],
    [{ circuit: true }, "'circuit' should be an object"],
    [{ circuit: { percent: 101 } }, "'percent' should be a whole number from 0 to 100: 101"],
    [{ dry_run: 'perhaps' }, `'dry_run' should be true or false: "perhaps"`],
    [{ keep_history: true }, "'keep_history' moves messages aside: name their target in 'to'"],
    [{ speed: 1 }, /^unknown key 'speed'; known are vhost, queue, /],
  ])('refuses %j by its name', async (body, reason) => {
    const complete = Object.keys(body).length === 0 ? body : { vhost: '/', queue: 'dead', ...body };
    const answer = await post(complete);
    expect(answer.status).toBe(400);
    const expected = typeof reason === 'string' ? reason : expect.stringMatching(reason);
    expect(answer.body).toEqual({ error: 'bad_request', reason: expected });
    expect((await rooms.call('GET', '/dlx/redrives')).body).toEqual([]);
  });

  it.each([
    ['a long name', { ['n'.repeat(1_000_000)]: 1 }],
    ['a long value', { dry_run: Array<number>(500_000).fill(1) }],
  ])('quotes only the beginning of %s', async (_, body) => {
    const { status, body: refusal } = await post({ vhost: '/', queue: 'dead', ...body });
    expect(status).toBe(400);
    expect(JSON.stringify(refusal).length).toBeLessThan(5_000);
  });

  it('does not find queues and virtual hosts that are not there', async () => {
    expect((await post({ vhost: 'none', queue: 'dead' })).status).toBe(404);
    expect((await post({ vhost: '/', queue: 'none' })).status).toBe(404);
  });
});
