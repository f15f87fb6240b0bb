import { everything, put, remove, type Turn, turn } from '../management/access-turns.js';

/** The tags that a user can have, from the least to the most. */
export const tags = ['none', 'management', 'policymaker', 'monitoring', 'administrator'] as const;
export type Tag = (typeof tags)[number];

/** Who may use a road: the tags that open it. */
export const rights = {
  management: ['management', 'policymaker', 'monitoring', 'administrator'],
  policymaker: ['policymaker', 'administrator'],
  monitoring: ['monitoring', 'administrator'],
  administrator: ['administrator'],
} as const satisfies Readonly<Record<string, readonly Tag[]>>;

/** One way to look at an object or to change it. */
export interface Road {
  readonly turn: Turn;
  readonly right: keyof typeof rights;
  /** Why fewer tags open it here than in RabbitMQ 3.10.8. */
  readonly stricter?: string;
  /** RabbitMQ has no such road. */
  readonly isOurs?: true;
  /** Said by an administrator before. */
  readonly before?: readonly Turn[];
}

const operatorPolicy = { pattern: '^a', definition: { 'max-length': 5 }, priority: 0 };
const userPolicy = { pattern: '^a', definition: { 'dead-letter-exchange': 'closed' } };
const limits = { 'max-queues': 900 };
const message = { properties: {}, routing_key: 'q', payload: 'x', payload_encoding: 'string' };
const fetching = { count: 1, ackmode: 'ack_requeue_false', encoding: 'auto' };

const get = (path: string): Turn => turn('GET', path);
const post = (path: string, body: unknown = {}): Turn => turn('POST', path, body);
const roads = (right: Road['right'], turns: readonly Turn[], more: Omit<Road, 'turn' | 'right'> = {}): Road[] =>
  turns.map((each) => ({ turn: each, right, ...more }));

const setOperatorPolicy = put('/operator-policies/{v}/p', operatorPolicy);
const setLimit = put('/vhost-limits/{v}/max-queues', { value: 900 });
const addBob = [put('/users/{u}bob', { password: 'x', tags: '' })];
const userLimits = { 'max-channels': 900 };
const limitBob = [...addBob, put('/user-limits/{u}bob/max-channels', { value: 900 })];
const grantBob = [...addBob, put('/permissions/{v}/{u}bob', everything)];
const topics = { exchange: 'amq.topic', write: 'a', read: 'b' };
const grantTopics = [...addBob, put('/topic-permissions/{v}/{u}bob', topics)];
const addQueue = [put('/queues/{v}/q', { durable: true })];
const parameterRoad = 'RabbitMQ 3.10.8 asks for policymaker on this road and for administrator on the other (rule V7)';

/** The one table: every object, every road to it, and who may use that road. */
export const table: Readonly<Record<string, readonly Road[]>> = {
  'an operator policy': [
    ...roads('administrator', [setOperatorPolicy]),
    ...roads('administrator', [remove('/operator-policies/{v}/p')], { before: [setOperatorPolicy] }),
    ...roads('management', [get('/operator-policies/{v}')], { before: [setOperatorPolicy] }),
    // RabbitMQ lists them to everybody and shows one alone to administrators.
    ...roads('administrator', [get('/operator-policies/{v}/p')], { before: [setOperatorPolicy] }),
    ...roads('administrator', [put('/parameters/operator_policy/{v}/p', { value: operatorPolicy })], {
      stricter: parameterRoad,
    }),
    ...roads('administrator', [remove('/parameters/operator_policy/{v}/p')], {
      stricter: parameterRoad,
      before: [setOperatorPolicy],
    }),
    ...roads('policymaker', [get('/parameters/operator_policy/{v}'), get('/parameters/operator_policy/{v}/p')], {
      before: [setOperatorPolicy],
    }),
    ...roads('administrator', [
      post('/definitions', {
        parameters: [{ component: 'operator_policy', vhost: '{v}', name: 'p', value: operatorPolicy }],
      }),
      post('/definitions/{v}', { parameters: [{ component: 'operator_policy', name: 'p', value: operatorPolicy }] }),
    ]),
  ],
  'the limits of a virtual host': [
    ...roads('administrator', [setLimit]),
    ...roads('administrator', [remove('/vhost-limits/{v}/max-queues')], { before: [setLimit] }),
    ...roads('management', [get('/vhost-limits'), get('/vhost-limits/{v}')], { before: [setLimit] }),
    ...roads('administrator', [put('/parameters/vhost-limits/{v}/limits', { value: limits })], {
      stricter: parameterRoad,
    }),
    ...roads('administrator', [remove('/parameters/vhost-limits/{v}/limits')], {
      stricter: parameterRoad,
      before: [setLimit],
    }),
    ...roads('administrator', [
      post('/definitions', {
        parameters: [{ component: 'vhost-limits', vhost: '{v}', name: 'limits', value: limits }],
      }),
      post('/definitions/{v}', { parameters: [{ component: 'vhost-limits', name: 'limits', value: limits }] }),
    ]),
  ],
  'a policy': [
    ...roads('policymaker', [put('/policies/{v}/p', userPolicy), get('/policies/{v}/p'), remove('/policies/{v}/p')], {
      before: [put('/policies/{v}/p', userPolicy)],
    }),
    ...roads('administrator', [
      post('/definitions', { policies: [{ vhost: '{v}', name: 'p', ...userPolicy }] }),
      post('/definitions/{v}', { policies: [{ name: 'p', ...userPolicy }] }),
    ]),
  ],
  'a global parameter': [
    ...roads(
      'policymaker',
      [
        put('/global-parameters/{u}one', { value: 1 }),
        get('/global-parameters/{u}one'),
        remove('/global-parameters/{u}one'),
      ],
      { before: [put('/global-parameters/{u}one', { value: 1 })] },
    ),
    ...roads('administrator', [post('/definitions', { global_parameters: [{ name: '{u}one', value: 1 }] })]),
  ],
  'what tells the cluster from others': [
    ...roads('administrator', [put('/global-parameters/internal_cluster_id', { value: '{u}id' })], {
      isOurs: true,
      stricter: parameterRoad,
    }),
  ],
  'the name of the cluster': [
    ...roads('administrator', [put('/cluster-name', { name: '{u}cluster' })], { isOurs: true }),
    ...roads(
      'administrator',
      [put('/global-parameters/cluster_name', { value: '{u}cluster' }), remove('/global-parameters/cluster_name')],
      { isOurs: true, stricter: parameterRoad, before: [put('/cluster-name', { name: '{u}cluster' })] },
    ),
  ],
  'a user': [
    ...roads('administrator', [get('/users'), get('/users/{u}bob'), put('/users/{u}bob', { tags: 'administrator' })], {
      before: addBob,
    }),
    ...roads('administrator', [remove('/users/{u}bob'), post('/users/bulk-delete', { users: ['{u}bob'] })], {
      before: addBob,
    }),
    ...roads('administrator', [
      post('/definitions', { users: [{ name: '{u}bob', tags: 'administrator', password: 'x' }] }),
    ]),
    ...roads('administrator', [get('/definitions'), get('/definitions/{v}')]),
  ],
  'the limits of a user': [
    ...roads('administrator', [put('/user-limits/{u}bob/max-channels', { value: 900 })], { before: addBob }),
    ...roads('administrator', [remove('/user-limits/{u}bob/max-channels'), remove('/user-limits/{u}bob/all')], {
      before: limitBob,
    }),
    ...roads('management', [get('/user-limits'), get('/user-limits/{u}bob')], { before: limitBob }),
    ...roads('administrator', [put('/users/{u}bob', { tags: '', limits: userLimits })], { before: addBob }),
    ...roads('administrator', [
      post('/definitions', { users: [{ name: '{u}bob', tags: '', password_hash: '', limits: userLimits }] }),
    ]),
  ],
  'a permission': [
    ...roads('administrator', [put('/permissions/{v}/{u}bob', everything)], { before: addBob }),
    ...roads('administrator', [get('/permissions/{v}/{u}bob'), remove('/permissions/{v}/{u}bob')], {
      before: grantBob,
    }),
    ...roads('administrator', [get('/users/{u}bob/permissions'), get('/vhosts/{v}/permissions')], { before: grantBob }),
    ...roads(
      'administrator',
      [post('/definitions', { permissions: [{ user: '{u}bob', vhost: '{v}', ...everything }] })],
      { before: addBob },
    ),
  ],
  'a topic permission': [
    ...roads('administrator', [put('/topic-permissions/{v}/{u}bob', topics)], { before: addBob }),
    ...roads(
      'administrator',
      [
        get('/topic-permissions/{v}/{u}bob'),
        remove('/topic-permissions/{v}/{u}bob'),
        remove('/topic-permissions/{v}/{u}bob/amq.topic'),
      ],
      { before: grantTopics },
    ),
    ...roads(
      'administrator',
      [post('/definitions', { topic_permissions: [{ user: '{u}bob', vhost: '{v}', ...topics }] })],
      { before: addBob },
    ),
  ],
  'a virtual host': [
    ...roads('administrator', [put('/vhosts/{v}-new'), post('/definitions', { vhosts: [{ name: '{v}-new' }] })]),
    ...roads('administrator', [remove('/vhosts/{v}-new')], { before: [put('/vhosts/{v}-new')] }),
  ],
  'a queue and its messages': [
    ...roads(
      'management',
      [
        get('/queues/{v}/q?columns=name'),
        put('/queues/{v}/q', { durable: true }),
        post('/queues/{v}/q/get', fetching),
        remove('/queues/{v}/q/contents'),
        remove('/queues/{v}/q'),
        post('/exchanges/{v}/amq.default/publish', message),
        post('/bindings/{v}/e/amq.direct/q/q', { routing_key: 'k' }),
      ],
      { before: addQueue },
    ),
    ...roads('administrator', [post('/queues/{v}/q/actions', { action: 'sync' })], { before: addQueue }),
    ...roads('administrator', [
      post('/definitions/{v}', { queues: [{ name: 'n', durable: true, auto_delete: false, arguments: {} }] }),
    ]),
    ...roads(
      'management',
      [
        get('/dlx/queues/{v}/q/messages'),
        get('/dlx/queues/{v}/q/groups?by=reason'),
        remove('/dlx/queues/{v}/q/messages?text=x'),
        post('/dlx/redrives', { vhost: '{v}', queue: 'q', dry_run: true }),
        get('/dlx/redrives'),
        get('/dlx/topology?vhost={v}'),
        put('/dlx/queues/{v}/q/pause', { reason: 'why' }),
        remove('/dlx/queues/{v}/q/pause'),
      ],
      { before: addQueue, isOurs: true },
    ),
  ],
  'the node': [
    ...roads('monitoring', [get('/nodes?columns=name')]),
    ...roads('monitoring', [get('/dlx/audit')], { isOurs: true }),
    ...roads('administrator', [post('/rebalance/queues')]),
  ],
};

/** Said by an administrator before each road of {@link named}. */
export const furniture: readonly Turn[] = [
  put('/queues/{v}/q', { durable: true }),
  put('/queues/{v}/closed', { durable: true }),
  put('/exchanges/{v}/closed', { type: 'fanout', durable: true }),
  put('/permissions/{v}/{u}policymaker', { configure: '^q', write: '^q', read: '^q' }),
];

/** What a policymaker with the permissions `^q` gets at a name that fits and at one that does not. */
export const named: readonly { readonly turn: Turn; readonly passes: boolean; readonly isOurs?: true }[] = [
  { turn: put('/queues/{v}/q2', {}), passes: true },
  { turn: put('/queues/{v}/other', {}), passes: false },
  { turn: put('/queues/{v}/q3', { arguments: { 'x-dead-letter-exchange': 'closed' } }), passes: false },
  { turn: put('/exchanges/{v}/other', { type: 'fanout' }), passes: false },
  { turn: put('/exchanges/{v}/q', { type: 'fanout', arguments: { 'alternate-exchange': 'closed' } }), passes: false },
  { turn: remove('/exchanges/{v}/closed'), passes: false },
  { turn: remove('/queues/{v}/closed'), passes: false },
  { turn: remove('/queues/{v}/closed/contents'), passes: false },
  { turn: remove('/queues/{v}/q/contents'), passes: true },
  ...['ack_requeue_true', 'ack_requeue_false', 'reject_requeue_true', 'reject_requeue_false'].flatMap((ackmode) => [
    { turn: post('/queues/{v}/closed/get', { ...fetching, ackmode }), passes: false },
    { turn: post('/queues/{v}/q/get', { ...fetching, ackmode }), passes: true },
  ]),
  { turn: post('/exchanges/{v}/closed/publish', message), passes: false },
  { turn: post('/exchanges/{v}/amq.default/publish', message), passes: false },
  { turn: post('/bindings/{v}/e/closed/q/q', { routing_key: 'k' }), passes: false },
  { turn: post('/bindings/{v}/e/amq.direct/q/closed', { routing_key: 'k' }), passes: false },
  // Policies ask for the tag alone: a policymaker decides where dead letters go, whatever may be written to by hand.
  { turn: put('/policies/{v}/p', userPolicy), passes: true },
  { turn: get('/dlx/queues/{v}/closed/messages'), passes: false, isOurs: true },
  { turn: get('/dlx/queues/{v}/closed/messages/1'), passes: false, isOurs: true },
  { turn: remove('/dlx/queues/{v}/closed/messages/1'), passes: false, isOurs: true },
  { turn: remove('/dlx/queues/{v}/closed/messages?text=x'), passes: false, isOurs: true },
  { turn: get('/dlx/queues/{v}/closed/groups?by=reason'), passes: false, isOurs: true },
  { turn: put('/dlx/queues/{v}/closed/pause', {}), passes: false, isOurs: true },
  { turn: remove('/dlx/queues/{v}/closed/pause'), passes: false, isOurs: true },
  { turn: put('/dlx/queues/{v}/q/pause', {}), passes: true, isOurs: true },
  { turn: remove('/dlx/queues/{v}/q/pause'), passes: true, isOurs: true },
  { turn: post('/dlx/redrives', { vhost: '{v}', queue: 'closed' }), passes: false, isOurs: true },
  { turn: post('/dlx/redrives', { vhost: '{v}', queue: 'closed', dry_run: true }), passes: false, isOurs: true },
  {
    turn: post('/dlx/redrives', {
      groups: [
        { vhost: '{v}', queue: 'q' },
        { vhost: '{v}', queue: 'closed' },
      ],
      dry_run: true,
    }),
    passes: false,
    isOurs: true,
  },
  {
    turn: post('/dlx/redrives', { vhost: '{v}', queue: 'q', to: { exchange: 'closed', routing_key: '' } }),
    passes: false,
    isOurs: true,
  },
  {
    turn: post('/dlx/redrives', {
      vhost: '{v}',
      queue: 'q',
      to: { exchange: '', routing_key: 'closed' },
      dry_run: true,
    }),
    passes: false,
    isOurs: true,
  },
];
