import { bind, consume, dlx, exchange, type Lesson, publish, queue, reject, wait, workAndDead } from './lesson.js';

const loop = (delay: number): Lesson['topology'] => ({
  queues: [queue('work', dlx('', 'wait')), queue('wait', { ...dlx('', 'work'), 'x-message-ttl': delay })],
});

/** What a message tells of its deaths. */
export const history: readonly Lesson[] = [
  {
    id: 'x-death',
    title: 'The header x-death',
    rules: ['H5'],
    text:
      'Each death is recorded in the header `x-death`: queue, reason, time, exchange, routing keys and count. ' +
      '`exchange` and `routing-keys` are the address of the message before this death. ' +
      'The message was published to `orders` with the key `eu`.',
    topology: {
      exchanges: [exchange('orders'), exchange('dlx')],
      queues: [queue('work', dlx('dlx', 'failed')), queue('dead')],
      bindings: [bind('orders', 'work'), bind('dlx', 'dead')],
    },
    question: 'Which exchange is in the entry?',
    answers: ['`orders`', '`dlx`', 'None'],
    steps: [publish('eu', 'a', { exchange: 'orders' }), consume('work'), reject()],
    why: 'The entry tells where the message came from: `orders` and `eu`. The message itself shows where it went: `dlx` and `failed`.',
    shows: ['exchange', 'x-death'],
    ends: { dead: ['a [failed] work/rejected 1 exchange=dlx x-death=orders/eu'] },
  },
  {
    id: 'original-expiration',
    title: 'An expiration is used up',
    rules: ['H3', 'B11', 'H5'],
    text:
      'The message has an expiration of five seconds. It expires, and is dead-lettered. ' +
      'With the same property it would expire again in the next queue.',
    topology: workAndDead(),
    question: 'The dead letter waits for a minute. Where is it then?',
    answers: ['In `dead`, without an expiration', 'Nowhere: it expired again', 'In `dead`, with its expiration'],
    steps: [publish('work', 'a', { expiration: '5000' }), wait(65)],
    why: 'Dead-lettering removes the property, and writes it into the entry as `original-expiration`: the last part of `x-death` here.',
    shows: ['expiration', 'x-death'],
    ends: { dead: ['a [work] work/expired 1 expiration=none x-death=/work/5000'] },
  },
  {
    id: 'newest-first',
    title: 'The newest death is first',
    rules: ['H7', 'H5'],
    text:
      'Dead letters can die again: the queue of the rejected has a time to live and a dead-letter exchange of its own. ' +
      'The message is rejected in `work`, and expires in `dead`.',
    topology: {
      exchanges: [exchange('dlx'), exchange('final')],
      queues: [queue('work', dlx('dlx')), queue('dead', { ...dlx('final'), 'x-message-ttl': 5_000 }), queue('grave')],
      bindings: [bind('dlx', 'dead'), bind('final', 'grave')],
    },
    question: 'Which death is the first entry of `x-death`?',
    answers: ['`dead/expired`', '`work/rejected`', 'There is one entry for both'],
    steps: [publish('work', 'a'), consume('work'), reject(), wait(10)],
    why: 'New entries are put in front. The exchange of the new one is `dlx`: to it the message was published last.',
    shows: ['x-death'],
    ends: { grave: ['a [work] dead/expired 1, work/rejected 1 x-death=dlx/work'] },
  },
  {
    id: 'counts',
    title: 'Counts, not copies',
    rules: ['H6', 'E1'],
    text:
      '`work` and `wait` dead-letter to each other: a message that is rejected comes back after ten seconds. ' +
      'It is rejected twice, and waits twice.',
    topology: loop(10_000),
    question: 'How many entries has `x-death`?',
    answers: ['Two, each with a count of 2', 'Four', 'Two, each with a count of 1'],
    steps: [publish('work', 'a'), consume('work'), reject(), wait(14), reject(), wait(14)],
    why: 'An entry is for a queue and a reason. The same again counts up and moves to the front; its time stays. Consumers read their attempts there.',
    ends: { 'c holds': ['a [work] wait/expired 2, work/rejected 2'] },
  },
  {
    id: 'first-death',
    title: 'The first death',
    rules: ['H8', 'W2'],
    text:
      'Three headers name the first death: `x-first-death-reason`, `-queue` and `-exchange`. ' +
      'This message is rejected in `work`, expires in `dead`, and ends in `grave`.',
    topology: {
      exchanges: [exchange('dlx'), exchange('final')],
      queues: [queue('work', dlx('dlx')), queue('dead', { ...dlx('final'), 'x-message-ttl': 5_000 }), queue('grave')],
      bindings: [bind('dlx', 'dead'), bind('final', 'grave')],
    },
    question: 'What is `x-first-death-queue` in `grave`?',
    answers: ['`work`', '`dead`', 'It is removed at the second death'],
    steps: [publish('work', 'a'), consume('work'), reject(), wait(10)],
    why: 'They are written once, and never changed. However long the way, they name its beginning.',
    shows: ['x-first-death-queue', 'x-first-death-reason', 'x-last-death-queue', 'x-last-death-reason'],
    ends: {
      grave: [
        'a [work] dead/expired 1, work/rejected 1 x-first-death-queue=work x-first-death-reason=rejected x-last-death-queue=none x-last-death-reason=none',
      ],
    },
    on4: {
      ends: {
        grave: [
          'a [work] dead/expired 1, work/rejected 1 x-first-death-queue=work x-first-death-reason=rejected x-last-death-queue=dead x-last-death-reason=expired',
        ],
      },
      why: 'RabbitMQ 4 keeps three more headers up to date, which name the last death.',
    },
  },
  {
    id: 'client-history',
    title: 'A history that a client sent',
    rules: ['H9', 'W3'],
    text:
      'Consumers often republish a message with all its headers, `x-death` among them. ' +
      'The publisher here claims three deaths in `work`. Then the message is rejected there.',
    topology: workAndDead(),
    question: 'Which count has the entry afterwards?',
    answers: ['4', '1', '3'],
    steps: [
      publish('work', 'a', { headers: { 'x-death': [{ queue: 'work', reason: 'rejected', count: 3 }] } }),
      consume('work'),
      reject(),
    ],
    why: 'RabbitMQ 3.10 believes the header, and counts on.',
    ends: { dead: ['a [work] work/rejected 4'] },
    on4: {
      answer: 1,
      ends: { dead: ['a [work] work/rejected 1'] },
      why: 'Since RabbitMQ 4 a history that a client sent is replaced at the next death. Attempts need a header of their own.',
    },
  },
  {
    id: 'properties-stay',
    title: 'What stays',
    rules: ['H3', 'H4', 'H14'],
    text:
      'A dead letter is the same message at another address: body, properties and headers stay. ' +
      'The queue of the dead has priorities here. `a` came first, and `b` has the higher priority.',
    topology: {
      exchanges: [exchange('dlx')],
      queues: [queue('work', dlx('dlx')), queue('dead', { 'x-max-priority': 9 })],
      bindings: [bind('dlx', 'dead')],
    },
    question: 'Which one is at the head of `dead`?',
    answers: ['`b`', '`a`', 'Priorities end with the message'],
    steps: [
      publish('work', 'a', { priority: 1, headers: { tenant: 'x' } }),
      publish('work', 'b', { priority: 5 }),
      consume('work'),
      reject(),
      reject(),
    ],
    why: 'The priority stays, and orders the message in its new queue. Headers of the publisher stay as well.',
    shows: ['priority', 'tenant'],
    ends: { dead: ['b [work] work/rejected 1 priority=5 tenant=none', 'a [work] work/rejected 1 priority=1 tenant=x'] },
  },
  {
    id: 'quorum-priority',
    title: 'Priorities in a quorum queue',
    rules: ['W8', 'H14'],
    text:
      'The queue of the dead is a quorum queue. `a` was published with the priority 1, and `b` with 5. ' +
      'Both are rejected, a first.',
    topology: {
      exchanges: [exchange('dlx')],
      queues: [queue('work', dlx('dlx')), queue('dead', { 'x-queue-type': 'quorum' })],
      bindings: [bind('dlx', 'dead')],
    },
    question: 'Which one is at the head of `dead`?',
    answers: ['`a`', '`b`', 'Quorum queues refuse priorities'],
    steps: [
      publish('work', 'a', { priority: 1 }),
      publish('work', 'b', { priority: 5 }),
      consume('work'),
      reject(),
      reject(),
    ],
    why: 'In RabbitMQ 3.10 quorum queues are first in, first out.',
    ends: { dead: ['a [work] work/rejected 1', 'b [work] work/rejected 1'] },
    on4: {
      answer: 1,
      ends: { dead: ['b [work] work/rejected 1', 'a [work] work/rejected 1'] },
      why: 'Quorum queues of RabbitMQ 4 honour priorities, without being asked. A message without one counts as 4.',
    },
  },
];
