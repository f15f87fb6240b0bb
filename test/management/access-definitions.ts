import { everything, get, nothing, policy, put, type Turn, turn } from './access-turns.js';

export const definitions: readonly Turn[] = [
  put('/queues/{v}/q', { durable: true, arguments: { 'x-message-ttl': 50_000 } }),
  put('/queues/{v}/transient', { auto_delete: true }),
  put('/exchanges/{v}/x', { type: 'topic', arguments: { 'alternate-exchange': 'y' } }),
  turn('POST', '/bindings/{v}/e/x/q/q', { routing_key: 'a.*', arguments: { n: 1 } }),
  turn('POST', '/bindings/{v}/e/amq.topic/e/x', { routing_key: 'k' }),
  put('/policies/{v}/p', { ...policy, priority: 2 }),
  put('/operator-policies/{v}/p', policy),
  get('/definitions/{v}'),
  get('/definitions/nowhere'),
  turn('POST', '/definitions', ''),
  turn('POST', '/definitions', '[]'),
  turn('POST', '/definitions', '{'),
  turn('POST', '/definitions', '"text"'),
  turn('POST', '/definitions/nowhere', {}),
  turn('POST', '/definitions/{v}-other', {
    queues: [{ name: 'in', durable: true, auto_delete: false, arguments: {} }],
  }),
  get('/definitions/{v}-other'),
  turn('POST', '/definitions', { users: [{ name: '{u}bob' }] }),
  turn('POST', '/definitions', { permissions: [{ user: 'nobody-of-that-name', vhost: '{v}', ...nothing }] }),
  turn('POST', '/definitions', {
    policies: [{ vhost: '{v}', name: 'bad', pattern: '(', definition: { 'max-length': 3 } }],
  }),
  turn('POST', '/definitions', { policies: [{ vhost: '{v}', name: 'bad', pattern: 'x', definition: { 'x<': 3 } }] }),
  turn('POST', '/definitions', { parameters: [{ vhost: '{v}', component: 'none', name: 'x', value: {} }] }),
  turn('POST', '/definitions', {
    queues: [{ vhost: 'nowhere', name: 'q', durable: true, auto_delete: false, arguments: {} }],
  }),
  turn('POST', '/definitions', {
    queues: [{ vhost: '{v}', name: 'bad', durable: true, auto_delete: false, arguments: { 'x-expires': 0 } }],
  }),
  turn('POST', '/definitions', {
    queues: [{ vhost: '{v}', name: 'q', durable: false, auto_delete: false, arguments: { 'x-expires': 1 } }],
  }),
  turn('POST', '/definitions', {
    exchanges: [
      { vhost: '{v}', name: 'bad', type: 'magic', durable: true, auto_delete: false, internal: false, arguments: {} },
    ],
  }),
  turn('POST', '/definitions', {
    bindings: [
      { vhost: '{v}', source: 'none', destination: 'q', destination_type: 'queue', routing_key: '', arguments: {} },
    ],
  }),
  turn('POST', '/definitions', {
    users: [{ name: '{u}bob', password_hash: 'kI3GCqW5JLMJa4iX1lo7X4D6XbYqlLgxIs30+P6tENUV2POR', tags: 'management' }],
    vhosts: [{ name: '{v}-other', description: 'again', tags: ['t'] }],
    permissions: [{ user: '{u}bob', vhost: '{v}-other', ...everything }],
    topic_permissions: [{ user: '{u}bob', vhost: '{v}-other', exchange: 'amq.topic', write: 'a', read: 'b' }],
    parameters: [{ vhost: '{v}-other', component: 'vhost-limits', name: 'limits', value: { 'max-queues': 50 } }],
    policies: [
      { vhost: '{v}-other', name: 'p', pattern: '.', 'apply-to': 'all', priority: 0, definition: { 'max-length': 9 } },
    ],
    exchanges: [
      {
        vhost: '{v}-other',
        name: 'x',
        type: 'headers',
        durable: true,
        auto_delete: true,
        internal: true,
        arguments: {},
      },
    ],
    queues: [
      { vhost: '{v}-other', name: 'quo', durable: true, auto_delete: false, arguments: { 'x-queue-type': 'quorum' } },
    ],
    bindings: [
      {
        vhost: '{v}-other',
        source: 'x',
        destination: 'quo',
        destination_type: 'queue',
        routing_key: 'k',
        arguments: { 'x-match': 'any', a: true },
      },
    ],
  }),
  get('/definitions/{v}-other'),
  get('/whoami', 'bob:test12'),
  get('/permissions/{v}-other/{u}bob'),
  get('/topic-permissions/{v}-other/{u}bob'),
  get('/vhosts/{v}-other?columns=name,description,tags'),
  turn('PUT', '/definitions', {}),
];
