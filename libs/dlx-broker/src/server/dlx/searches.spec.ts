import { describe, expect, it } from 'vitest';
import { apiHarness } from '../../../../../test/harnesses/api-harness.js';
import { silentOutbox } from '../../engine/broker/index.js';
import { Dlx } from './state.js';
import type { Turns } from '../http/turns.js';

describe('a client that goes', () => {
  const queue = '/dlx/queues/%2F/dead';
  it.each([
    ['a dry run', 'POST', '/dlx/redrives', { vhost: '/', queue: 'dead', dry_run: true }],
    ['a browse', 'GET', `${queue}/messages?text=nothing`, undefined],
    ['a count of groups', 'GET', `${queue}/groups?by=reason`, undefined],
    ['a discard by a filter', 'DELETE', `${queue}/messages?text=nothing`, undefined],
  ])('ends %s', async (_, method, path, body) => {
    let pauses = 0;
    let time = 0;
    const abort = new AbortController();
    const turns: Turns = {
      now: () => (time += 3),
      next: () => {
        if (++pauses === 3) abort.abort();
        return new Promise((resolve) => setImmediate(resolve));
      },
    };
    const rooms = apiHarness();
    const dlx = new Dlx({ broker: rooms.broker, turns });
    const { api, broker } = apiHarness({ host: { broker: rooms.broker, dlx } });
    void broker;
    const channel = rooms.broker.connect().openChannel(silentOutbox);
    channel.declareQueue('dead');
    for (let count = 0; count < 20_000; count++) channel.publish('', 'dead', {}, Buffer.from('x'));
    const request = new Request(`http://localhost/api${path}`, {
      method,
      headers: { authorization: `Basic ${btoa('guest:guest')}`, 'content-type': 'application/json' },
      signal: abort.signal,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const incoming = { url: `/api${path}`, socket: { remoteAddress: '127.0.0.1' } };
    const answer = await api.fetch(request, { incoming } as never);
    expect(answer.status).toBe(400);
    expect(pauses).toBeLessThan(8);
  });
});
