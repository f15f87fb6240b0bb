import { describe, expect, it } from 'vitest';
import { listen, publishText } from '../../../../../../test/harnesses/listener.js';
import { apiHarness } from '../../../../../../test/harnesses/api-harness.js';

const policy = { pattern: '^a', definition: { 'max-length': 5 } };
const kinds = ['policies', 'operator-policies'] as const;

describe.each(kinds)('%s', (kind) => {
  it('are set (201, 204), shown, listed and deleted', async () => {
    const { call } = apiHarness();
    const path = `/${kind}/%2F/a%2Fb`;
    expect((await call('PUT', path, { body: policy })).status).toBe(201);
    expect((await call('PUT', path, { body: { ...policy, priority: 3, 'apply-to': 'queues' } })).status).toBe(204);
    const row = { vhost: '/', name: 'a/b', ...policy, 'apply-to': 'queues', priority: 3 };
    expect((await call('GET', path)).body).toEqual(row);
    expect((await call('GET', `/${kind}/%2f/`)).body).toEqual([row]);
    expect((await call('GET', `/${kind}`)).body).toEqual([row]);
    expect((await call('DELETE', path)).status).toBe(204);
    expect((await call('DELETE', path)).status).toBe(404);
    expect((await call('GET', path)).status).toBe(404);
  });

  it('act at once, also on messages that wait (rule F6)', async () => {
    const { broker, call } = apiHarness();
    const { channel } = listen(broker);
    channel.declareQueue('a');
    for (const body of ['1', '2', '3']) publishText(channel, '', 'a', body);
    await call('PUT', `/${kind}/%2F/p`, { body: { pattern: 'a', definition: { 'max-length': 1 } } });
    expect(broker.virtualHost('/').queues.get('a')?.length).toBe(1);
    await call('DELETE', `/${kind}/%2F/p`);
    for (const body of ['4', '5']) publishText(channel, '', 'a', body);
    expect(broker.virtualHost('/').queues.get('a')?.length).toBe(3);
  });

  it.each([
    ['nothing', {}, '[{key_missing,pattern},{key_missing,definition}]'],
    ['no definition', { pattern: 'a' }, '[{key_missing,definition}]'],
    ['an empty definition', { pattern: 'a', definition: {} }, 'Validation failed\n\nno policy provided\n'],
    [
      'a bad pattern',
      { ...policy, pattern: '(' },
      'Validation failed\n\npattern should be regular expression but is invalid: {"missing )",1}\n',
    ],
    [
      'a pattern that is too large',
      { ...policy, pattern: 'a'.repeat(60_000) },
      `Validation failed\n\npattern should be regular expression but is invalid: {"regular expression is too large",\n${' '.repeat(54)}60000}\n`,
    ],
    ['a null pattern', { ...policy, pattern: null }, 'Validation failed\n\npattern should be a binary but was null\n'],
    [
      'a bad apply-to',
      { ...policy, 'apply-to': 'all of them' },
      "Validation failed\n\napply-to 'all of them' unrecognised; should be one of: 'queues', 'classic_queues',  'quorum_queues', 'streams', 'exchanges', or 'all'\n",
    ],
    ['no JSON', '{', 'not_json'],
  ])('are refused with %s (rule F13)', async (_, body, reason) => {
    const { call } = apiHarness();
    expect(await call('PUT', `/${kind}/%2F/p`, { body })).toMatchObject({
      status: 400,
      body: { error: 'bad_request', reason },
    });
    expect((await call('GET', `/${kind}`)).body).toEqual([]);
  });

  it('nowhere are refused', async () => {
    const { call } = apiHarness();
    expect(await call('PUT', `/${kind}/nowhere/p`, { body: policy })).toMatchObject({
      status: 404,
      body: { error: 'not_found', reason: 'vhost_not_found' },
    });
    expect((await call('GET', `/${kind}/nowhere`)).body).toMatchObject({ error: 'Object Not Found' });
  });
});

describe('what is wrong with a policy', () => {
  it('is escaped as HTML, but not for operator policies (rule F13)', async () => {
    const { call } = apiHarness();
    const body = { pattern: 'a', definition: { 'x<&>': 1 } };
    const reasons = await Promise.all(kinds.map(async (kind) => (await call('PUT', `/${kind}/%2F/p`, { body })).body));
    expect(reasons).toMatchObject([
      { reason: 'Validation failed\n\n[{&lt;&lt;"x&lt;&amp;&gt;"&gt;&gt;,1}] are not recognised policy settings\n' },
      { reason: 'Validation failed\n\n[{<<"x<&>">>,1}] are not recognised policy settings\n' },
    ]);
  });

  it('operator policies have fewer keys, and come as JSON only (rule F12)', async () => {
    const { call } = apiHarness();
    const body = { pattern: 'a', definition: { 'dead-letter-exchange': 'x' } };
    expect((await call('PUT', '/policies/%2F/p', { body })).status).toBe(201);
    expect((await call('PUT', '/operator-policies/%2F/p', { body })).status).toBe(400);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await call('PUT', '/policies/%2F/p', { body: policy, headers })).status).toBe(204);
    expect((await call('PUT', '/operator-policies/%2F/p', { body: policy, headers })).status).toBe(415);
  });
});
