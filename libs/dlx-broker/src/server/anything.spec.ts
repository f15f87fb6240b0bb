import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limitNames } from '../engine/broker/index.js';
import { apiHarness } from '../../../../test/harnesses/api-harness.js';
import { listen } from '../../../../test/harnesses/listener.js';
import { addUsers, guestOf } from '../platform/logins/index.js';
import { methodNames } from './http/resource.js';
import { resources } from './api/resources.js';

/** Words that mean something somewhere, so that what is sent gets past the first check now and then. */
const words = [
  '',
  '/',
  'q',
  'x',
  'guest',
  'amq.direct',
  'amq.default',
  'limits',
  'vhost-limits',
  'operator_policy',
  'max-queues',
  'name',
  'queue',
  'exchange',
  'e',
  '~',
  '..',
  '%',
  '__proto__',
  'constructor',
  'undefined',
  'null',
  '-1',
  '1e9',
  'true',
  '(',
  '.*',
  'ü€',
];
const keys = [
  'name',
  'value',
  'tags',
  'password',
  'password_hash',
  'hashing_algorithm',
  'configure',
  'write',
  'read',
  'exchange',
  'pattern',
  'definition',
  'apply-to',
  'priority',
  'users',
  'vhosts',
  'permissions',
  'topic_permissions',
  'policies',
  'parameters',
  'queues',
  'exchanges',
  'bindings',
  'global_parameters',
  'vhost',
  'user',
  'component',
  'type',
  'durable',
  'auto_delete',
  'internal',
  'arguments',
  'routing_key',
  'payload',
  'payload_encoding',
  'properties',
  'headers',
  'count',
  'ackmode',
  'encoding',
  'truncate',
  'source',
  'destination',
  'destination_type',
  'description',
  'max-length',
  'x-max-length',
  'queue',
  'to',
  'filter',
  'ids',
  'limit',
  'rate',
  'dry_run',
  'action',
  'mode',
  'reason',
  '__proto__',
];
const word = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...words) }, fc.string({ maxLength: 12 }));
const { value } = fc.letrec<{ value: unknown; object: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    word,
    fc.constantFrom(
      null,
      true,
      false,
      0,
      1,
      -1,
      1.5,
      1e300,
      2 ** 53,
      'string',
      'base64',
      'queues',
      'ack_requeue_true',
      'auto',
    ),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.dictionary(fc.constantFrom(...keys), tie('value'), { maxKeys: 6, noNullPrototype: true }),
}));
const query = fc.dictionary(
  fc.constantFrom(
    'page',
    'page_size',
    'name',
    'use_regex',
    'sort',
    'sort_reverse',
    'columns',
    'limit',
    'after',
    'vhost',
    'download',
    'lengths_age',
    'lengths_incr',
  ),
  word,
  { maxKeys: 3 },
);

describe('whatever is asked, in whatever form, no fault of ours comes of it:', () => {
  // What streams for ever is left out.
  const all = resources.filter(({ path }) => path !== '/dlx/events');
  it.each(all.map((resource) => [resource.path, resource] as const))('%s', async (path, resource) => {
    const places = path.split('/').filter((part) => part.startsWith(':'));
    const faults: unknown[] = [];
    const { clock, broker, call } = apiHarness({ host: { log: (error) => void faults.push(error) } });
    const refused: boolean[] = [];
    await fc.assert(
      fc.asyncProperty(fc.tuple(...places.map(() => word)), query, fc.option(value), async (names, asked, body) => {
        clock.advance(3_600_000); // failed logins are forgotten
        broker.addVirtualHost('/'); // what went before may have taken it away
        for (const name of limitNames) broker.virtualHost('/').limits.delete(name);
        addUsers(broker, [guestOf('/')]);
        const { channel } = listen(broker);
        channel.declareQueue('q');
        channel.connection.close();
        let place = path;
        for (const [index, part] of places.entries())
          place = place.replace(part, encodeURIComponent(names[index] ?? ''));
        const search = new URLSearchParams(asked).toString();
        for (const method of methodNames.filter((name) => resource[name] !== undefined)) {
          const answer = await call(method, `${place}?${search}`, method === 'GET' || body === null ? {} : { body });
          expect(faults).toEqual([]);
          expect(answer.status).not.toBe(500);
          refused.push(answer.status === 401 || answer.status === 429);
        }
      }),
      { numRuns: 15 },
    );
    // The login form is refused unless it has a name and a password.
    if (resource.hasLoginForm === true) return;
    expect(refused.filter((each) => each).length).toBeLessThan(refused.length / 2);
  });
});
