import { beforeEach, describe, expect, it } from 'vitest';
import { type Channel, silentOutbox } from '../../engine/broker/index.js';
import { int32, longstr } from '../../engine/message/index.js';
import { type ApiHarness, apiHarness } from '../../../../../test/harnesses/api-harness.js';

describe('DELETE /api/dlx/exchanges/{vhost}/{name}/delayed/{id}', () => {
  let rooms: ApiHarness;
  let channel: Channel;

  beforeEach(() => {
    rooms = apiHarness();
    channel = rooms.broker.connect().openChannel(silentOutbox);
    const type = new Map([['x-delayed-type', longstr('fanout')]]);
    channel.declareExchange('later', { type: 'x-delayed-message', durable: true, arguments: type });
    channel.declareQueue('q', {});
    channel.bindQueue('q', 'later', '');
    for (const messageId of ['a/1', 'b', 'b']) {
      const headers = new Map([['x-delay', int32(1_000)]]);
      channel.publish('later', 'k', { messageId, headers }, Buffer.from(messageId));
    }
  });

  const call = (path: string, as?: string) =>
    rooms.call('DELETE', `/dlx/exchanges/%2F/${path}`, as === undefined ? {} : { as });

  it('drops what waits by its message id, and says how many', async () => {
    expect(await call('later/delayed/b')).toMatchObject({
      status: 200,
      body: { exchange: 'later', message_id: 'b', cancelled: 2 },
    });
    expect(await call('later/delayed/b')).toMatchObject({ status: 200, body: { cancelled: 0 } });
    rooms.clock.advance(1_000);
    expect(Buffer.from(channel.get('q')!.body).toString()).toBe('a/1');
    expect(channel.get('q')).toBeUndefined();
  });

  it('takes an id with a slash in it', async () => {
    expect(await call('later/delayed/a%2F1')).toMatchObject({ body: { cancelled: 1 } });
  });

  it('is 404 without such an exchange, refused for one of another type, and for want of the right to write', async () => {
    expect(await call('missing/delayed/b')).toMatchObject({ status: 404 });
    expect(await call('amq.topic/delayed/b')).toMatchObject({ status: 400 });
    const { access } = rooms.broker;
    access.setUser('eve', { tags: ['management'], passwordHash: access.user('guest')!.passwordHash });
    access.setPermissions('eve', '/', { configure: '.*', write: '^$', read: '.*' });
    expect((await call('later/delayed/b', 'eve:guest')).status).toBeGreaterThanOrEqual(400);
    expect(rooms.broker.virtualHost('/').exchanges.get('later')!.delayed!.count).toBe(3);
  });
});
