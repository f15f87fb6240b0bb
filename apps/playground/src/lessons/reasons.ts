import {
  ack,
  bind,
  consume,
  dlx,
  exchange,
  type Lesson,
  nack,
  publish,
  queue,
  reject,
  wait,
  workAndDead,
} from './lesson.js';

const quorum = { 'x-queue-type': 'quorum' };

/** Why a message dies, and when it does not. */
export const reasons: readonly Lesson[] = [
  {
    id: 'rejected',
    title: 'A consumer rejects',
    rules: ['A1', 'A2'],
    text:
      'A queue can name a dead-letter exchange: an ordinary exchange that gets what dies in the queue. ' +
      'A consumer that cannot use a message rejects it, with `requeue` set to `false`. ' +
      'Here `dlx` is that exchange, and `dead` is bound to it.',
    topology: workAndDead(),
    question: 'The consumer rejects `a`. Where is `a` then?',
    answers: ['In `dead`', 'Back in `work`', 'Nowhere'],
    steps: [publish('work', 'a'), publish('work', 'b'), consume('work'), reject()],
    why: 'A rejection without requeue is a death, for the reason `rejected`. The consumer holds `b` next.',
    ends: { dead: ['a [work] work/rejected 1'], 'c holds': ['b [work]'] },
  },
  {
    id: 'nacked',
    title: 'A nack is a rejection',
    rules: ['A2'],
    text:
      'AMQP has `basic.reject`; `basic.nack` is an extension of RabbitMQ that can settle many deliveries. ' +
      'Both have the flag `requeue`. The reason is written into the header `x-death`.',
    topology: workAndDead(),
    question: 'Which reason does `x-death` give after a nack?',
    answers: ['`rejected`', '`nacked`', 'None: a nack is no death'],
    steps: [publish('work', 'a'), consume('work'), nack()],
    why: 'There are four reasons only: `rejected`, `expired`, `maxlen` and `delivery_limit`. A nack counts as `rejected`.',
    ends: { dead: ['a [work] work/rejected 1'] },
  },
  {
    id: 'requeued',
    title: 'Requeueing is no death',
    rules: ['A8', 'J2'],
    text:
      'With `requeue` set to `true` a rejected message returns to its queue. ' +
      'Three messages wait, and the consumer takes one at a time. It returns the first and acknowledges the next one that it gets.',
    topology: workAndDead(),
    question: 'Which message is acknowledged?',
    answers: ['`a`: it is back at the head', '`b`: `a` went to the back', '`b`: `a` is in `dead`'],
    steps: [publish('work', 'a'), publish('work', 'b'), publish('work', 'c'), consume('work'), reject(true), ack()],
    why: 'A returned message takes its old place and is marked as redelivered; nothing is dead-lettered. So `a` came again.',
    ends: { work: ['c [work]'], 'c holds': ['b [work]'] },
  },
  {
    id: 'queue-ttl',
    title: 'A time to live for a queue',
    rules: ['A6', 'B1', 'B8'],
    text:
      'The argument `x-message-ttl` gives each message of a queue the same time, in milliseconds. ' +
      'No consumer is needed for the end of it: a timer of the queue follows the head. ' +
      'The two messages come half a minute apart.',
    topology: workAndDead({ 'x-message-ttl': 60_000 }),
    question: 'What is in `dead` after 75 seconds?',
    answers: ['`a`', '`a` and `b`', 'Nothing: no consumer is there'],
    steps: [publish('work', 'a'), wait(30), publish('work', 'b'), wait(45)],
    why: 'Each message has a minute from the moment at which it entered. Only that of `a` is over.',
    ends: { work: ['b [work]'], dead: ['a [work] work/expired 1'] },
  },
  {
    id: 'message-ttl',
    title: 'A time to live for a message',
    rules: ['B2'],
    text:
      'A publisher can set the property `expiration`, which is a text of milliseconds. ' +
      'It holds for this one message. Without it, in a queue without a time to live, a message waits for ever.',
    topology: workAndDead(),
    question: 'What is in `dead` after ten seconds?',
    answers: ['`a`', '`a` and `b`', 'Nothing: the queue has no time to live'],
    steps: [publish('work', 'a', { expiration: '5000' }), publish('work', 'b'), wait(10)],
    why: 'The expiration of `a` was over, and `a` died as `expired`. `b` has none.',
    ends: { work: ['b [work]'], dead: ['a [work] work/expired 1'] },
  },
  {
    id: 'shorter-ttl',
    title: 'The shorter time holds',
    rules: ['B4'],
    text:
      'A queue has a time to live of ten seconds. The publisher gives `a` four seconds, and `b` a minute. ' +
      'Both times are known when a message enters the queue.',
    topology: workAndDead({ 'x-message-ttl': 10_000 }),
    question: 'When does `b` die?',
    answers: ['After ten seconds', 'After a minute', 'Together with `a`'],
    steps: [publish('work', 'a', { expiration: '4000' }), publish('work', 'b', { expiration: '60000' }), wait(14)],
    why: 'The smaller of both numbers holds, and it is fixed as the message enters. `b` had ten seconds, like any other.',
    ends: { dead: ['a [work] work/expired 1', 'b [work] work/expired 1'] },
  },
  {
    id: 'head-of-line',
    title: 'The trap of expirations',
    rules: ['B5', 'B6', 'E3'],
    text:
      'Retries with growing delays look easy: publish to one wait queue, with an expiration for each message. ' +
      'RabbitMQ looks for expired messages at the head of the queue, and nowhere else. ' +
      'Here `slow`, with twenty seconds, came before `quick`, with four.',
    topology: workAndDead(),
    question: 'When is `quick` in `dead`?',
    answers: ['After twenty seconds, behind `slow`', 'After four seconds', 'After 24 seconds'],
    steps: [
      publish('work', 'slow', { expiration: '20000' }),
      publish('work', 'quick', { expiration: '4000' }),
      wait(24),
    ],
    why: '`quick` has expired, but stays behind `slow`, and still counts. Both leave when `slow` expires. One queue for each delay keeps clear of this.',
    ends: { dead: ['slow [work] work/expired 1', 'quick [work] work/expired 1'] },
  },
  {
    id: 'one-queue-per-delay',
    title: 'One wait queue for each delay',
    rules: ['E2', 'B1'],
    text:
      'The cure for the trap: each delay has its own queue with its own `x-message-ttl`. ' +
      'Within a queue the first message is then always the first to expire. ' +
      'Both queues dead-letter to `work` by the default exchange.',
    topology: {
      queues: [
        queue('work'),
        queue('slow', { ...dlx('', 'work'), 'x-message-ttl': 16_000 }),
        queue('fast', { ...dlx('', 'work'), 'x-message-ttl': 4_000 }),
      ],
    },
    question: 'In which order do they arrive in `work`?',
    answers: ['`b`, `c`, `a`', '`a`, `b`, `c`', '`b`, `a`, `c`'],
    steps: [publish('slow', 'a'), publish('fast', 'b'), publish('fast', 'c'), wait(20)],
    why: '`fast` does not wait for `slow`, and keeps its own order.',
    ends: { work: ['b [work] fast/expired 1', 'c [work] fast/expired 1', 'a [work] slow/expired 1'] },
  },
  {
    id: 'held-does-not-expire',
    title: 'What is held does not expire',
    rules: ['B9'],
    text:
      'A message has five seconds to live, and a consumer takes it at once. ' +
      'The consumer works for ten seconds. Then it gives up, and requeues the message.',
    topology: workAndDead({ 'x-message-ttl': 5_000 }),
    question: 'Where is the message?',
    answers: ['In `dead`: it expired on its return', 'In `work`, with five new seconds', 'In `work`, for ever'],
    steps: [consume('work'), publish('work', 'a'), wait(10), nack(true)],
    why: 'An unacknowledged message never expires. Its deadline stays what it was, so it dies the moment it is back.',
    ends: { dead: ['a [work] work/expired 1'] },
  },
  {
    id: 'maxlen',
    title: 'A queue that is full',
    rules: ['C1', 'C4'],
    text:
      'The argument `x-max-length` limits the number of ready messages. ' +
      'A fourth message comes into a queue for three. The usual behaviour has the name `drop-head`.',
    topology: workAndDead({ 'x-max-length': 3 }),
    question: 'Which message dies?',
    answers: ['1, the oldest', '4, the newest', 'None: the publisher waits'],
    steps: [publish('work', '', { count: 4 })],
    why: 'The new message is taken, and the head is dropped for the reason `maxlen`. The oldest makes room for the newest.',
    ends: { work: ['2 [work]', '3 [work]', '4 [work]'], dead: ['1 [work] work/maxlen 1'] },
  },
  {
    id: 'reject-publish',
    title: 'Refuse instead of drop',
    rules: ['C7', 'C9'],
    text:
      'With `x-overflow` set to `reject-publish` a full queue refuses the new message. ' +
      'A publisher with confirms gets a nack; another one learns nothing. The queue has a dead-letter exchange, too.',
    topology: workAndDead({ 'x-max-length': 2, 'x-overflow': 'reject-publish' }),
    question: 'Where is the third message?',
    answers: ['Nowhere: it never was in the queue', 'In `dead`', 'In `work`, in place of the first one'],
    steps: [publish('work', '', { count: 3 })],
    why: 'A refused message has not been in the queue, so it does not die there either. Publisher confirms are how to notice.',
    ends: { work: ['1 [work]', '2 [work]'] },
  },
  {
    id: 'reject-publish-dlx',
    title: 'Refuse, and dead-letter',
    rules: ['C8'],
    text:
      'Classic queues know one more overflow: `reject-publish-dlx`. ' +
      'It refuses the new message, as `reject-publish` does. The publisher learns the same.',
    topology: workAndDead({ 'x-max-length': 2, 'x-overflow': 'reject-publish-dlx' }),
    question: 'Where is the third message?',
    answers: ['In `dead`', 'Nowhere', 'In `work`'],
    steps: [publish('work', '', { count: 3 })],
    why: 'The refused message is dead-lettered for the reason `maxlen`, although it never was in the queue.',
    ends: { work: ['1 [work]', '2 [work]'], dead: ['3 [work] work/maxlen 1'] },
  },
  {
    id: 'delivery-limit',
    title: 'Poison, and the delivery limit',
    rules: ['D2', 'E6'],
    text:
      'Some messages fail each time, and a consumer that requeues them works for ever. ' +
      'A quorum queue counts returns, and `x-delivery-limit` says how many it bears. ' +
      'The limit here is two.',
    topology: workAndDead({ ...quorum, 'x-delivery-limit': 2 }),
    question: 'The consumer rejects `a` with requeue, three times. Where is `a`?',
    answers: ['In `dead`', 'In `work`', 'The consumer has it once more'],
    steps: [publish('work', 'a'), consume('work'), reject(true), reject(true), reject(true)],
    why: 'The third return is above the limit, and `a` dies as `delivery_limit`, after three deliveries. The consumer needs no counting.',
    ends: { dead: ['a [work] work/delivery_limit 1'] },
  },
  {
    id: 'nack-counts-on-310',
    title: 'Does a nack count?',
    rules: ['D2', 'W6'],
    text:
      'The same queue, and a consumer that returns the message by `basic.nack` with requeue. ' +
      'To the consumer that is the same as `basic.reject`. To the delivery limit it is not, since 4.3.',
    topology: workAndDead({ ...quorum, 'x-delivery-limit': 1 }),
    question: 'After two nacks, where is `a`?',
    answers: ['In `dead`', 'The consumer has it again', 'Nowhere'],
    steps: [publish('work', 'a'), consume('work'), nack(true), nack(true)],
    why: 'RabbitMQ 3.10 counts every return.',
    ends: { dead: ['a [work] work/delivery_limit 1'] },
    on4: {
      answer: 1,
      ends: { 'c holds': ['a [work]'] },
      why: 'RabbitMQ 4.3 takes a nack for a change of mind, not for a failure: only `basic.reject` and lost channels count.',
    },
  },
  {
    id: 'default-limit',
    title: 'A limit that you did not set',
    rules: ['W6'],
    text:
      'A quorum queue without any delivery limit, and without a dead-letter exchange. ' +
      'A consumer rejects its only message with requeue, again and again: 21 times. ' +
      'Many applications did so for years, as a simple retry.',
    topology: { queues: [queue('work', quorum)] },
    question: 'Where is the message?',
    answers: ['The consumer has it again', 'Nowhere', 'In `work`'],
    steps: [publish('work', 'a'), consume('work'), ...Array.from({ length: 21 }, () => reject(true))],
    why: 'RabbitMQ 3.10 has no limit unless you set one.',
    ends: { 'c holds': ['a [work]'] },
    on4: {
      answer: 1,
      ends: {},
      why: 'RabbitMQ 4 has a limit of 20 by default. Without a dead-letter exchange the message is dropped: it is lost.',
    },
  },
  {
    id: 'no-death',
    title: 'Ends that are no deaths',
    rules: ['A8'],
    text:
      'A message leaves a queue in other ways, too: it is acknowledged, or the queue is purged. ' +
      'The queue here has a dead-letter exchange. `a` is acknowledged, and then an operator purges.',
    topology: workAndDead(),
    question: 'What is in `dead`?',
    answers: ['Nothing', '`b` and `c`', '`a`, `b` and `c`'],
    steps: [
      publish('work', 'a'),
      publish('work', 'b'),
      publish('work', 'c'),
      consume('work'),
      ack(),
      { do: 'purge', queue: 'work' },
    ],
    why: 'Only a message that is rejected, expired, dropped or returned too often dies. A purge kills nothing: `c` is gone, and the consumer still holds `b`.',
    ends: { 'c holds': ['b [work]'] },
  },
  {
    id: 'queue-expires',
    title: 'A queue that expires',
    rules: ['A8', 'B12'],
    text:
      'The argument `x-expires` is a time to live of the queue itself: unused for so long, it is deleted. ' +
      'A message waits in it. The queue has a dead-letter exchange.',
    topology: {
      exchanges: [exchange('dlx')],
      queues: [queue('work', { ...dlx('dlx'), 'x-expires': 6_000 }), queue('dead')],
      bindings: [bind('dlx', 'dead')],
    },
    question: 'The queue expires. Where is the message?',
    answers: ['Nowhere', 'In `dead`', 'It keeps the queue alive'],
    steps: [publish('work', 'a'), wait(12)],
    why: 'The messages of a queue that expires, or is deleted, are not dead-lettered. Waiting messages are no use of a queue.',
    ends: {},
  },
];
