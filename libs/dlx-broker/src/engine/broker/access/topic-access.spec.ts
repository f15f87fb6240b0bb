import { describe, expect, it } from 'vitest';
import { harness } from '../../../nest/testing/harness.js';
import { policyPatterns } from '../../../platform/patterns.js';
import { array, longstr, noProperties } from '../../message/index.js';
import type { TopologyChange } from '../declarations.js';
import { AmqpError } from '../errors.js';
import { PatternError } from '../patterns.js';
import { TopicAccess } from './topic-access.js';

const all = { configure: '.*', write: '.*', read: '.*' };

/** A topic exchange `t`, a direct one `d` and a queue `q`; each command on a channel of its own. */
function arrange(write: string, read: string) {
  const { broker } = harness({ rabbitmq: '3.10' });
  broker.access.setUser('U');
  broker.access.setPermissions('U', '/', all);
  broker.access.topics.set('U', '/', { exchange: 't', write, read });
  const open = () => broker.connect({ user: 'U' }).openChannel({} as never);
  const setup = open();
  setup.declareExchange('t', { type: 'topic' });
  setup.declareExchange('t2', { type: 'topic' });
  setup.declareExchange('d');
  setup.declareExchange('internal', { type: 'topic', internal: true });
  setup.declareQueue('q');
  const refusal = (command: (channel: ReturnType<typeof open>) => unknown): string | undefined => {
    try {
      command(open());
    } catch (error) {
      if (!(error instanceof AmqpError)) throw error;
      return `${error.code} ${error.method.join('.')} ${error.message}`;
    }
    return undefined;
  };
  const publish = (exchange: string, key: string, properties = noProperties) =>
    refusal((channel) => channel.publish(exchange, key, properties, new Uint8Array()));
  return { broker, refusal, publish };
}

const refused = (key: string, exchange = 't') =>
  `ACCESS_REFUSED - access to topic '${key}' in exchange '${exchange}' in vhost '/' refused for user 'U'`;

// Asked of RabbitMQ 3.10.8, all of it but the quoting of names.
describe('topic permissions (rule N5)', () => {
  it('are for the routing key of a publish to this topic exchange, and for nothing else', () => {
    const { publish } = arrange('^ok', '');
    expect(publish('t', 'ok.1')).toBeUndefined();
    expect(publish('t', 'no')).toBe(`403 60.40 ${refused('no')}`);
    expect(publish('t2', 'no')).toBeUndefined();
    expect(publish('d', 'no')).toBeUndefined();
    expect(publish('', 'q')).toBeUndefined();
    const headers = new Map([['CC', array([longstr('no')])]]);
    expect(publish('t', 'ok', { headers })).toBeUndefined();
  });

  it('are checked after the existence of the exchange, and after whether it is internal (rule K7)', () => {
    const { broker, publish } = arrange('^ok', '');
    broker.access.topics.set('U', '/', { exchange: 'internal', write: '^ok', read: '' });
    expect(publish('internal', 'no')).toContain('cannot publish to internal exchange');
    expect(publish('gone', 'no')).toContain("no exchange 'gone'");
  });

  it('are for the key of a binding from this exchange, also when it is removed', () => {
    const { refusal } = arrange('', '^r');
    expect(refusal((channel) => channel.bindQueue('q', 't', 'r1'))).toBeUndefined();
    expect(refusal((channel) => channel.bindQueue('q', 't', 'x'))).toBe(`403 50.20 ${refused('x')}`);
    expect(refusal((channel) => channel.unbindQueue('q', 't', 'x'))).toBe(`403 50.50 ${refused('x')}`);
    expect(refusal((channel) => channel.bindExchange('t2', 't', 'x'))).toBe(`403 40.30 ${refused('x')}`);
    expect(refusal((channel) => channel.bindExchange('t', 't2', 'x'))).toBeUndefined();
    expect(refusal((channel) => channel.bindQueue('gone', 't', 'x'))).toContain(refused('x'));
    expect(refusal((channel) => channel.bindQueue('gone', 't', 'r'))).toContain("no queue 'gone'");
  });

  it('with an empty pattern allow the empty key only', () => {
    const { publish } = arrange('', '');
    expect(publish('t', 'a')).toBe(`403 60.40 ${refused('a')}`);
    expect(publish('t', '')).toBeUndefined();
  });

  it('do not limit the host application', () => {
    const { broker } = arrange('^ok', '^ok');
    const channel = broker.connect().openChannel({} as never);
    expect(() => channel.publish('t', 'no', noProperties, new Uint8Array())).not.toThrow();
    expect(() => channel.bindQueue('q', 't', 'no')).not.toThrow();
  });
});

/** Users, virtual hosts and patterns, without a broker. */
function alone() {
  const changes: TopologyChange[] = [];
  const topics = new TopicAccess(policyPatterns, false, (change) => changes.push(change));
  const may = (user: string, vhost: string, key: string): boolean => {
    try {
      topics.check(user, vhost, 'write', 't', key);
      return true;
    } catch {
      return false;
    }
  };
  return { topics, changes, may };
}

describe('a pattern of topic permissions', () => {
  it('may name the user and the virtual host; {client_id} has no value here, and stays as it is', () => {
    const { topics, may } = alone();
    topics.set('U', 'V', { exchange: 't', write: '^{username}\\.{vhost}\\.{client_id}$', read: '' });
    expect(may('U', 'V', 'U.V.{client_id}')).toBe(true);
    expect(may('U', 'V', 'U.V.')).toBe(false);
    expect(topics.list()[0]?.write).toBe('^{username}\\.{vhost}\\.{client_id}$');
  });

  it('takes the names literally, whatever they are (rule V6)', () => {
    const { topics, may } = alone();
    for (const [user, vhost] of [
      ['.*', '/'],
      ['a(b', 'x.y'],
      ['Jürgen $&', '[v]'],
    ] as const) {
      topics.set(user, vhost, { exchange: 't', write: '^{username}:{vhost}$', read: '' });
      expect(may(user, vhost, `${user}:${vhost}`)).toBe(true);
      expect(may(user, vhost, 'anything')).toBe(false);
    }
  });

  it('that is no regular expression changes nothing', () => {
    const { topics, changes } = alone();
    topics.set('U', 'V', { exchange: 't', write: 'a', read: 'b' });
    expect(() => topics.set('U', 'V', { exchange: 't', write: 'c', read: '(' })).toThrow(PatternError);
    expect(topics.list()).toEqual([{ user: 'U', vhost: 'V', exchange: 't', write: 'a', read: 'b' }]);
    expect(changes).toHaveLength(1);
  });

  it('that is too large with the names in it is refused, too', () => {
    const { topics } = alone();
    const write = '{username}'.repeat(1_000);
    expect(() => topics.set('U', 'V', { exchange: 't', write, read: '' })).not.toThrow();
    const message = /^the write permission '(\{username\}){50}…' for topics .* regular expression is too large at \d+$/;
    expect(() => topics.set('u'.repeat(200), 'V', { exchange: 't', write, read: '' })).toThrow(message);
  });
});

describe('topic permissions are revoked', () => {
  it('one by one, or all of a user in a virtual host', () => {
    const { topics, changes } = alone();
    for (const exchange of ['t', 'u', 'w']) topics.set('U', 'V', { exchange, write: '', read: '' });
    expect(topics.delete('U', 'V', 'u')).toBe(true);
    expect(topics.delete('U', 'V', 'u')).toBe(false);
    expect(topics.list().map(({ exchange }) => exchange)).toEqual(['t', 'w']);
    expect(topics.delete('U', 'V')).toBe(true);
    expect(topics.delete('U', 'V')).toBe(false);
    const removed = changes.filter(({ change }) => change === 'removed');
    expect(removed.map((change) => 'exchange' in change && change.exchange)).toEqual(['u', 't', 'w']);
  });

  it('with their user, and with their virtual host', () => {
    const { broker } = harness();
    broker.addVirtualHost('v');
    for (const user of ['U', 'W']) {
      broker.access.setUser(user);
      for (const vhost of ['/', 'v']) broker.access.topics.set(user, vhost, { exchange: 't', write: '', read: '' });
    }
    broker.access.deleteUser('U');
    broker.removeVirtualHost('v');
    expect(broker.access.topics.list().map(({ user, vhost }) => `${user} ${vhost}`)).toEqual(['W /']);
  });
});
