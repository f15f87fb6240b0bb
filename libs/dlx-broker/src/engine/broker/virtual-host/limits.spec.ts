import { describe, expect, it } from 'vitest';
import { longstr } from '../../message/index.js';
import { harness } from '../../../nest/testing/harness.js';
import { refusalOf } from '../../../../../../test/harnesses/refusal-of.js';
import { listen } from '../../../../../../test/harnesses/listener.js';

function arrange() {
  const { broker } = harness();
  broker.addVirtualHost('v');
  broker.access.setUser('U');
  broker.access.setPermissions('U', 'v', { configure: '.*', write: '.*', read: '.*' });
  const { limits } = broker.virtualHost('v');
  const connect = (user: string | undefined = 'U') =>
    broker.connect(user === undefined ? { vhost: 'v' } : { vhost: 'v', user });
  const declare = (name: string, options = {}) => listen(broker, { vhost: 'v' }).channel.declareQueue(name, options);
  return { broker, limits, connect, declare };
}

// Texts, codes and order as RabbitMQ 3.10.8 answers them.
describe('max-connections of a virtual host (rule N6)', () => {
  it('refuses one more with a hard 530, and accepts another one after a close', () => {
    const { limits, connect } = arrange();
    limits.set('max-connections', 2);
    const first = connect();
    connect();
    const error = refusalOf(connect);
    expect([error?.code, error?.closes, error?.method]).toEqual([530, 'connection', [10, 40]]);
    expect(error?.message).toBe(
      "NOT_ALLOWED - access to vhost 'v' refused for user 'U': connection limit (2) is reached",
    );
    first.close();
    expect(refusalOf(connect)).toBeUndefined();
  });

  it('is none when it is negative, and refuses everyone when it is 0', () => {
    const { limits, connect } = arrange();
    limits.set('max-connections', -1);
    expect(refusalOf(connect)).toBeUndefined();
    limits.set('max-connections', 0);
    expect(refusalOf(connect)?.message).toContain('connection limit (0) is reached');
    expect(limits.delete('max-connections')).toBe(true);
    expect(limits.delete('max-connections')).toBe(false);
    expect(refusalOf(connect)).toBeUndefined();
  });

  it('comes before the permissions, and never keeps the host application out', () => {
    const { broker, limits } = arrange();
    limits.set('max-connections', 0);
    expect(refusalOf(() => broker.connect({ vhost: 'v', user: 'nobody' }))?.message).toContain('connection limit');
    expect(refusalOf(() => broker.connect({ vhost: 'v' }))).toBeUndefined();
  });
});

describe('max-queues of a virtual host (rule N6)', () => {
  it('refuses a new queue with a soft 406; one that is there may be declared again', () => {
    const { limits, declare } = arrange();
    limits.set('max-queues', 2);
    declare('a');
    declare('b');
    const error = refusalOf(() => declare('c'));
    expect([error?.code, error?.closes, error?.method]).toEqual([406, 'channel', [50, 10]]);
    expect(error?.message).toBe(
      "PRECONDITION_FAILED - cannot declare queue 'c': queue limit in vhost 'v' (2) is reached",
    );
    expect(refusalOf(() => declare('a'))).toBeUndefined();
    expect(refusalOf(() => declare('', { exclusive: true }))?.message).toContain("queue 'amq.gen-");
  });

  it('comes before the arguments (rule F9), after a passive declare and the type of a server-named queue (rule D1)', () => {
    const { limits, declare } = arrange();
    limits.set('max-queues', 0);
    const wrong = { arguments: new Map([['x-message-ttl', longstr('soon')]]) };
    expect(refusalOf(() => declare('q', wrong))?.message).toContain('queue limit');
    expect(refusalOf(() => declare('q', { passive: true }))?.message).toContain("no queue 'q'");
    const quorum = { durable: true, arguments: new Map([['x-queue-type', longstr('quorum')]]) };
    expect(refusalOf(() => declare('', quorum))?.message).toContain('Cannot declare a server-named queue');
  });

  it('is none when it is negative', () => {
    const { limits, declare } = arrange();
    limits.set('max-queues', -7);
    expect(refusalOf(() => declare('q'))).toBeUndefined();
    expect([...limits.list()]).toEqual([['max-queues', -7]]);
  });
});
