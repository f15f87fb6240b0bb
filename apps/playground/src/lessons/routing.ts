import { bind, cancel, consume, dlx, exchange, type Lesson, publish, queue, reject, wait } from './lesson.js';

/** Where a dead letter goes. */
export const routing: readonly Lesson[] = [
  {
    id: 'key-kept',
    title: 'The routing key stays',
    rules: ['G2', 'H1'],
    text:
      'A message is published to the exchange `orders` with the key `eu`, and lands in the queue `work`. ' +
      'The dead-letter exchange is a direct one: it looks at the key. ' +
      'The queue names no key of its own.',
    topology: {
      exchanges: [exchange('orders', 'direct'), exchange('dlx', 'direct')],
      queues: [queue('work', dlx('dlx')), queue('dead eu'), queue('dead work')],
      bindings: [bind('orders', 'work', 'eu'), bind('dlx', 'dead eu', 'eu'), bind('dlx', 'dead work', 'work')],
    },
    question: 'Which queue gets the dead letter?',
    answers: ['`dead eu`', '`dead work`', 'Both'],
    steps: [publish('eu', 'a', { exchange: 'orders' }), consume('work'), reject()],
    why: 'A dead letter is published with the key with which the message was published. The name of the queue plays no part.',
    shows: ['exchange'],
    ends: { 'dead eu': ['a [eu] work/rejected 1 exchange=dlx'] },
  },
  {
    id: 'key-replaced',
    title: 'A routing key for the dead',
    rules: ['G2', 'H1'],
    text:
      'The argument `x-dead-letter-routing-key` gives all dead letters of a queue one key. ' +
      'The message comes with the key `eu`, and the queue says `failed`.',
    topology: {
      exchanges: [exchange('orders', 'direct'), exchange('dlx', 'direct')],
      queues: [queue('work', dlx('dlx', 'failed')), queue('dead eu'), queue('dead failed')],
      bindings: [bind('orders', 'work', 'eu'), bind('dlx', 'dead eu', 'eu'), bind('dlx', 'dead failed', 'failed')],
    },
    question: 'Which queue gets the dead letter, and which key does it show?',
    answers: ['`dead failed`, with the key `failed`', '`dead failed`, with the key `eu`', 'Both'],
    steps: [publish('eu', 'a', { exchange: 'orders' }), consume('work'), reject()],
    why: 'The key of the queue replaces that of the message. The old key is not lost: `x-death` has it in `routing-keys`.',
    shows: ['x-death'],
    ends: { 'dead failed': ['a [failed] work/rejected 1 x-death=orders/eu'] },
  },
  {
    id: 'default-exchange',
    title: 'Straight to a queue',
    rules: ['G7', 'O7'],
    text:
      'The default exchange has an empty name, and each queue is bound to it by its own name. ' +
      'It can be a dead-letter exchange like any other. So a queue can name the queue of its dead letters.',
    topology: { queues: [queue('work', dlx('', 'dead')), queue('dead')] },
    question: 'Where does the dead letter go?',
    answers: ['To `dead`', 'Nowhere: the exchange has no name', 'Back to `work`'],
    steps: [publish('work', 'a'), consume('work'), reject()],
    why: 'On the default exchange the key is the name of the queue. The empty text is a value here, and not a missing one.',
    ends: { dead: ['a [dead] work/rejected 1'] },
  },
  {
    id: 'topic',
    title: 'An exchange of any type',
    rules: ['G1'],
    text:
      'A dead-letter exchange is a normal exchange: direct, fanout, topic or headers. ' +
      'This one is a topic exchange, on which `*` stands for one word and `#` for any number of them.',
    topology: {
      exchanges: [exchange('orders', 'topic'), exchange('dlx', 'topic')],
      queues: [queue('work', dlx('dlx')), queue('all'), queue('eu')],
      bindings: [bind('orders', 'work', '#'), bind('dlx', 'all', '#'), bind('dlx', 'eu', '*.eu')],
    },
    question: '`a` has the key `order.eu`, `b` has `order.us.paid`. What has the queue `eu`?',
    answers: ['`a`', '`a` and `b`', 'Nothing'],
    steps: [
      publish('order.eu', 'a', { exchange: 'orders' }),
      publish('order.us.paid', 'b', { exchange: 'orders' }),
      consume('work'),
      reject(),
      reject(),
    ],
    why: 'The exchange routes dead letters as it routes all messages, by their keys. `all` gets both.',
    ends: {
      all: ['a [order.eu] work/rejected 1', 'b [order.us.paid] work/rejected 1'],
      eu: ['a [order.eu] work/rejected 1'],
    },
  },
  {
    id: 'by-reason',
    title: 'Sorted by reason',
    rules: ['G8'],
    text:
      'A headers exchange looks at headers in place of the key. ' +
      'The headers of a dead letter tell of its death already when it is routed, `x-first-death-reason` among them.',
    topology: {
      exchanges: [exchange('dlx', 'headers')],
      queues: [queue('work', dlx('dlx')), queue('too late'), queue('broken')],
      bindings: [
        { ...bind('dlx', 'too late'), arguments: { 'x-match': 'all-with-x', 'x-first-death-reason': 'expired' } },
        { ...bind('dlx', 'broken'), arguments: { 'x-match': 'all-with-x', 'x-first-death-reason': 'rejected' } },
      ],
    },
    question: '`a` is rejected, `b` expires. What has the queue `broken`?',
    answers: ['`a`', '`b`', 'Nothing: the headers come later'],
    steps: [
      publish('work', 'a'),
      consume('work'),
      reject(),
      cancel(),
      publish('work', 'b', { expiration: '5000' }),
      wait(10),
    ],
    why: 'The death is recorded first, and then the message is routed. `x-match` has to be `all-with-x`, or names with `x-` do not count.',
    ends: { 'too late': ['b [work] work/expired 1'], broken: ['a [work] work/rejected 1'] },
  },
  {
    id: 'cc',
    title: 'Carbon copies',
    rules: ['G2', 'G3'],
    text:
      'The header `CC` is a list of further routing keys: one publish, several queues. ' +
      'The message is in `work` by its key, and its `CC` names `archive`. The queue `work` names no dead-letter key.',
    topology: {
      exchanges: [exchange('dlx', 'direct')],
      queues: [queue('work', dlx('dlx')), queue('archive'), queue('dead work'), queue('dead archive')],
      bindings: [bind('dlx', 'dead work', 'work'), bind('dlx', 'dead archive', 'archive')],
    },
    question: 'The message is rejected in `work`. Who gets the dead letter?',
    answers: ['`dead work` and `dead archive`', '`dead work`', '`dead archive`'],
    steps: [publish('work', 'a', { cc: ['archive'] }), consume('work'), reject()],
    why: 'Without a key of the queue all keys of the publish count again, those of `CC` as well. The copy in `archive` is not touched.',
    shows: ['CC', 'x-death'],
    ends: {
      archive: ['a [work] CC=archive x-death='],
      'dead work': ['a [work] work/rejected 1 CC=archive x-death=/work+archive'],
      'dead archive': ['a [work] work/rejected 1 CC=archive x-death=/work+archive'],
    },
  },
  {
    id: 'cc-replaced',
    title: 'Carbon copies, and a key',
    rules: ['G2', 'H2', 'W17'],
    text:
      'The same message, and this time the queue names a dead-letter key. ' +
      'The header `CC` would send the dead letter to further queues.',
    topology: {
      exchanges: [exchange('dlx', 'direct')],
      queues: [queue('work', dlx('dlx', 'failed')), queue('archive'), queue('dead'), queue('dead archive')],
      bindings: [bind('dlx', 'dead', 'failed'), bind('dlx', 'dead archive', 'archive')],
    },
    question: 'Who gets the dead letter?',
    answers: ['`dead`', '`dead` and `dead archive`', '`dead archive`'],
    steps: [publish('work', 'a', { cc: ['archive'] }), consume('work'), reject()],
    why: 'The key of the queue is the only one. `CC` is removed, so that it sends nothing any further.',
    shows: ['CC', 'x-death'],
    ends: {
      archive: ['a [work] CC=archive x-death='],
      dead: ['a [failed] work/rejected 1 CC=none x-death=/work+archive'],
    },
    on4: {
      ends: {
        archive: ['a [work] CC=archive x-death='],
        dead: ['a [failed] work/rejected 1 CC=archive x-death=/work+archive'],
      },
      why: 'RabbitMQ 4 leaves the header `CC` in place, where it has no effect any more.',
    },
  },
  {
    id: 'bcc',
    title: 'Blind copies',
    rules: ['G2', 'G3', 'H5'],
    text:
      '`BCC` is like `CC`, but RabbitMQ removes the header before it delivers. ' +
      'The receivers in `work` do not see who else has the message. RabbitMQ itself remembers.',
    topology: {
      exchanges: [exchange('dlx', 'direct')],
      queues: [queue('work', dlx('dlx')), queue('audit'), queue('dead work'), queue('dead audit')],
      bindings: [bind('dlx', 'dead work', 'work'), bind('dlx', 'dead audit', 'audit')],
    },
    question: 'The message is rejected in `work`. Is the key `audit` among `routing-keys` of `x-death`?',
    answers: ['No, but `dead audit` has the dead letter', 'Yes', 'No, and `dead audit` has nothing'],
    steps: [publish('work', 'a', { bcc: ['audit'] }), consume('work'), reject()],
    why: 'Blind keys route the dead letter like all others, and stay blind: `routing-keys` has the key and `CC` only.',
    shows: ['BCC', 'x-death'],
    ends: {
      audit: ['a [work] BCC=none x-death='],
      'dead work': ['a [work] work/rejected 1 BCC=none x-death=/work'],
      'dead audit': ['a [work] work/rejected 1 BCC=none x-death=/work'],
    },
  },
  {
    id: 'unroutable',
    title: 'A dead letter without a queue',
    rules: ['A9'],
    text:
      'The dead-letter exchange exists, and a queue is bound to it. ' +
      'But the binding asks for the key `failed`, and the dead letter has the key `work`.',
    topology: {
      exchanges: [exchange('dlx', 'direct')],
      queues: [queue('work', dlx('dlx')), queue('dead')],
      bindings: [bind('dlx', 'dead', 'failed')],
    },
    question: 'Where is the message?',
    answers: ['Nowhere', 'Back in `work`', 'In `dead`'],
    steps: [publish('work', 'a'), consume('work'), reject()],
    why: 'A dead letter that no binding wants is dropped like any unroutable message, and no publisher is there to hear of it.',
    ends: {},
  },
];
