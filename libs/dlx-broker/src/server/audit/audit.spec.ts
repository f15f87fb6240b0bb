import { appendFile, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentOutbox } from '../../engine/broker/index.js';
import { apiHarness, type ApiHarness } from '../../../../../test/harnesses/api-harness.js';
import { AuditFile } from './audit-file.js';
import { type AuditEntry, AuditLog } from './audit-log.js';

const did = (action: string) => ({ user: 'ann', from: '::1', action, names: {} });

describe('the audit log', () => {
  it('numbers its entries, and shows the newest first, page by page', () => {
    let now = 5;
    const log = new AuditLog(() => now++);
    for (const action of ['a', 'b', 'c', 'd', 'e']) log.record(did(action));
    expect(log.page(2).map(({ number, time, action }) => [number, time, action])).toEqual([
      [5, 9, 'e'],
      [4, 8, 'd'],
    ]);
    expect(log.page(9, 4).map(({ action }) => action)).toEqual(['c', 'b', 'a']);
    expect(log.page(1, Infinity, ({ action }) => action < 'c')).toMatchObject([{ action: 'b' }]);
  });

  it('forgets the oldest of more than ten thousand', () => {
    const log = new AuditLog(() => 0);
    for (let count = 0; count < 25_000; count++) log.record(did('x'));
    const all = log.page(Infinity);
    expect([all.length, all[0]!.number, all.at(-1)!.number]).toEqual([10_000, 25_000, 15_001]);
  });
});

describe('refused requests', () => {
  const refused = (log: AuditLog, user: string, name = 'x'): void =>
    void log.record({ user, from: '::1', action: 'PUT', names: { name }, status: 401 });

  it('are on record so often in a minute, by user, and what was left out is counted', () => {
    let now = 0;
    const log = new AuditLog(() => now);
    for (let count = 0; count < 1_000; count++) refused(log, 'eve');
    refused(log, 'ada');
    log.record({ ...did('a change'), status: 201 });
    expect(log.page(Infinity)).toHaveLength(22);
    expect(log.page(2)[1]).toMatchObject({ user: 'ada', details: { refused_before: 980 } });
    now = 60_000;
    refused(log, 'eve');
    expect(log.page(1)).toMatchObject([{ user: 'eve' }]);
  });

  it('have names that are cut', () => {
    const log = new AuditLog(() => 0);
    refused(log, 'eve', 'n'.repeat(15_000));
    expect(log.page(1)[0]?.names['name']).toBe(`${'n'.repeat(255)}…`);
  });
});

describe('the audit file', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'audit-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  const lines = async (): Promise<string[]> => (await readFile(join(directory, 'audit.ndjson'), 'utf8')).split('\n');

  it('appends a line of JSON for each entry, and is its owner’s alone', async () => {
    const file = await AuditFile.open(directory);
    const log = new AuditLog(() => 7, file);
    for (let count = 0; count < 100; count++) log.record(did(`action ${count}`));
    await file.close();
    const written = await lines();
    expect([written.length, written.at(-1)]).toEqual([101, '']);
    expect(JSON.parse(written[99]!)).toEqual({ number: 100, time: 7, ...did('action 99') });
    expect((await stat(join(directory, 'audit.ndjson'))).mode & 0o777).toBe(0o600);
  });

  it('goes on after a restart where it was, also behind half a line', async () => {
    const first = await AuditFile.open(directory);
    new AuditLog(() => 1, first).record(did('before'));
    await first.close();
    await appendFile(join(directory, 'audit.ndjson'), '{"number":2,"ti');
    const second = await AuditFile.open(directory);
    const log = new AuditLog(() => 2, second);
    log.record(did('after'));
    await second.close();
    expect(log.page(9).map(({ number, action }) => [number, action])).toEqual([
      [2, 'after'],
      [1, 'before'],
    ]);
    expect((await lines()).map((line) => line.slice(0, 12))).toEqual([
      '{"number":1,',
      '{"number":2,',
      '{"number":2,',
      '',
    ]);
    const third = await AuditFile.open(directory);
    expect(third.earlier.map(({ action }) => action)).toEqual(['before', 'after']);
    await third.close();
  });

  it('becomes the one before when it is long, and the last of those goes', async () => {
    for (let count = 0; count < 60; count++) {
      const file = await AuditFile.open(directory, undefined, 1_000);
      new AuditLog(() => 7, file).record(did(`action ${count}`));
      await file.close();
    }
    const sizes = await Promise.all(
      ['audit.ndjson', 'audit.ndjson.1'].map(async (name) => (await stat(join(directory, name))).size),
    );
    for (const size of sizes) expect(size).toBeLessThan(2_500);
    expect((await lines()).at(-2)).toContain('action 59');
    const again = await AuditFile.open(directory);
    expect(again.earlier.length).toBeGreaterThan((await lines()).length);
    expect(again.earlier.at(-1)).toMatchObject({ number: 60 });
    await again.close();
    expect((await stat(join(directory, 'audit.ndjson'))).mode & 0o777).toBe(0o600);
  });

  it('begins anew when it is long and was moved away meanwhile', async () => {
    const failures: unknown[] = [];
    const file = await AuditFile.open(directory, (error) => failures.push(error), 100);
    const log = new AuditLog(() => 7, file);
    log.record(did('x'.repeat(200)));
    await file.flush();
    await rename(join(directory, 'audit.ndjson'), join(directory, 'elsewhere'));
    log.record(did('after'));
    await file.close();
    expect(failures).toEqual([]);
    expect((await lines())[0]).toContain('after');
  });

  it('reads only the end of a long one', async () => {
    const entry = JSON.stringify({ number: 1, time: 1, ...did('x'.repeat(900)) });
    await appendFile(join(directory, 'audit.ndjson'), `${entry}\n`.repeat(3_000));
    const file = await AuditFile.open(directory);
    expect(file.earlier.length).toBeGreaterThan(1_000);
    expect(file.earlier.length).toBeLessThan(1_200);
    await file.close();
  });
});

describe('/api/dlx/audit', () => {
  let rooms: ApiHarness;
  let entries: AuditEntry[];
  beforeEach(() => {
    entries = [];
    const audit = { earlier: [], append: (entry: AuditEntry) => void entries.push(entry), close: async () => {} };
    rooms = apiHarness({ host: { audit } });
  });

  const list = async (query = '', as = 'guest:guest') => rooms.call('GET', `/dlx/audit${query}`, { as });

  it('has every request that changes something: who, what, where, from where, and what it came to', async () => {
    await rooms.call('PUT', '/vhosts/new', { body: {}, peer: '127.0.0.9' });
    rooms.clock.advance('1m');
    await rooms.call('DELETE', '/vhosts/none');
    await rooms.call('GET', '/vhosts');
    expect((await list()).body).toEqual({
      cursor: null,
      items: [
        {
          number: 2,
          time: rooms.clock.now(),
          user: 'guest',
          from: '127.0.0.1',
          action: 'DELETE /api/vhosts/:vhost',
          names: { vhost: 'none' },
          status: 404,
        },
        {
          number: 1,
          time: rooms.clock.now() - 60_000,
          user: 'guest',
          from: '127.0.0.9',
          action: 'PUT /api/vhosts/:vhost',
          names: { vhost: 'new' },
          status: 201,
        },
      ],
    });
    expect(entries.map(({ number }) => number)).toEqual([1, 2]);
  });

  it('has filters and counts, and what a redrive came to; nothing of bodies, passwords and dry runs', async () => {
    const channel = rooms.broker.connect().openChannel(silentOutbox);
    channel.declareQueue('dead', {});
    for (const body of ['SECRET 1', 'SECRET 2', 'good']) channel.publish('', 'dead', {}, Buffer.from(body));
    await rooms.call('PUT', '/users/eve', { body: { password: 'PASSWORD', tags: 'management' } });
    await rooms.call('DELETE', '/dlx/queues/%2F/dead/messages?text=good&dry_run=true');
    await rooms.call('POST', '/dlx/redrives', { body: { vhost: '/', queue: 'dead', dry_run: true } });
    await rooms.call('DELETE', '/dlx/queues/%2F/dead/messages?text=good');
    await rooms.call('POST', '/dlx/redrives', {
      body: { vhost: '/', queue: 'dead', rate: 0, to: { exchange: 'amq.fanout', routing_key: 'k' } },
    });
    rooms.clock.advance(0);
    const { items } = (await list('?page_size=3')).body as { items: AuditEntry[] };
    expect(items).toMatchObject([
      { action: 'redrive done', user: 'guest', from: '', details: { moved: 0, left: 2, gone: 0 } },
      { action: 'POST /api/dlx/redrives', status: 201, details: { queue: 'dead', filter: null, rate: 0 } },
      {
        action: 'DELETE /api/dlx/queues/:vhost/:name/messages',
        names: { vhost: '/', name: 'dead' },
        details: { filter: { text: 'good' }, dry_run: false, counts: { matched: 1, discarded: 1 } },
      },
    ]);
    expect(JSON.stringify(entries)).not.toMatch(/SECRET|PASSWORD|"dry_run":true/);
  });

  it('has what was refused for want of rights, but no failed logins', async () => {
    const { access } = rooms.broker;
    access.setUser('eve', { tags: ['management'], passwordHash: access.user('guest')!.passwordHash });
    await rooms.call('PUT', '/vhosts/mine', { body: {}, as: 'eve:guest' });
    await rooms.call('PUT', '/vhosts/mine', { body: {}, as: 'eve:wrong' });
    expect(entries).toMatchObject([{ user: 'eve', status: 401, names: { vhost: 'mine' } }]);
  });

  it('goes on by cursor, finds by user, virtual host and action, and is for those who watch', async () => {
    for (const name of ['a', 'b', 'c']) await rooms.call('PUT', `/vhosts/${name}`, { body: {} });
    const first = (await list('?page_size=2')).body as { items: AuditEntry[]; cursor: string };
    expect([first.items.length, first.cursor]).toEqual([2, '2']);
    expect((await list(`?page_size=2&cursor=${first.cursor}`)).body).toMatchObject({
      items: [{ number: 1 }],
      cursor: null,
    });
    expect((await list('?vhost=b&action=PUT&user=guest')).body).toMatchObject({ items: [{ number: 2 }] });
    expect((await list('?user=nobody')).body).toEqual({ items: [], cursor: null });
    expect((await list('?page=2')).status).toBe(400);
    const { access } = rooms.broker;
    access.setUser('eve', { tags: ['management'], passwordHash: access.user('guest')!.passwordHash });
    expect((await list('', 'eve:guest')).status).toBe(401);
  });
});
