import { bind, consume, dlx, exchange, type Lesson, publish, queue, reject, wait } from './lesson.js';

/** A queue whose messages expire, and go on by the default exchange. */
const waiting = (name: string, ms: number, key?: string) => queue(name, { ...dlx('', key), 'x-message-ttl': ms });

/** A quorum queue with at-least-once dead-lettering. */
const careful = (table: Parameters<typeof queue>[1] = {}) =>
  queue('work', {
    ...dlx('dlx'),
    'x-queue-type': 'quorum',
    'x-dead-letter-strategy': 'at-least-once',
    'x-overflow': 'reject-publish',
    ...table,
  });

/** Cycles, delayed retry, and what is safe. */
export const retry: readonly Lesson[] = [
  {
    id: 'cycle',
    title: 'A cycle',
    rules: ['I1', 'I2'],
    text:
      'The queue dead-letters to the default exchange, and names no key. ' +
      'A message in it has the key `work`: so its dead letter goes to `work` again. ' +
      'It expires after five seconds.',
    topology: { queues: [waiting('work', 5_000)] },
    question: 'Where is the message after a minute?',
    answers: ['Nowhere', 'In `work`, for the twelfth time', 'In `work`, once and for all'],
    steps: [publish('work', 'a'), wait(60)],
    why: 'A dead letter that reaches the same queue again, without a rejection on the way, is dropped. Otherwise it would go round for ever.',
    ends: {},
  },
  {
    id: 'delayed-retry',
    title: 'Delayed retry',
    rules: ['E1', 'I1'],
    text:
      'The most useful topology of all: `work` dead-letters to `wait`, and `wait` dead-letters back after ten seconds. ' +
      'It is a cycle, like the one before. But a consumer rejects.',
    topology: { queues: [queue('work', dlx('', 'wait')), waiting('wait', 10_000, 'work')] },
    question: 'Is the message dropped on its way back?',
    answers: ['No: it was rejected', 'Yes, the first time', 'Yes, the second time'],
    steps: [publish('work', 'a'), consume('work'), reject(), wait(14)],
    why: 'A rejection is a decision of a consumer, so the cycle is wanted, and never cut. The consumer has the message again, with its history.',
    ends: { 'c holds': ['a [work] wait/expired 1, work/rejected 1'] },
  },
  {
    id: 'ladder',
    title: 'A ladder of wait queues',
    rules: ['V2', 'I5', 'W5'],
    text:
      'Some build longer delays of two short ones: a rejected message waits in `step1`, then in `step2`, and returns to `work`. ' +
      'The consumer rejects it a second time. The real RabbitMQ 3.10 has a bug here.',
    topology: {
      queues: [queue('work', dlx('', 'step1')), waiting('step1', 8_000, 'step2'), waiting('step2', 8_000, 'work')],
    },
    question: 'Does the message come back after the second rejection?',
    answers: ['Here and in RabbitMQ 4: yes', 'Never', 'Only the first time'],
    steps: [publish('work', 'a'), consume('work'), reject(), wait(24), reject(), wait(24)],
    why:
      'The newest rejection is within the cycle, so nothing is cut. RabbitMQ 3.10 puts three and more entries in a wrong order, ' +
      'finds the rejection too far behind, and drops the message in the second round. One wait queue for each delay is safe everywhere.',
    ends: { 'c holds': ['a [work] step2/expired 2, step1/expired 2, work/rejected 2'] },
    endsOnReal310: {},
  },
  {
    id: 'built-in-delay',
    title: 'Delays without a wait queue',
    rules: ['W7', 'F9'],
    text:
      'A quorum queue has the argument `x-delayed-retry-type`, and a shortest delay of twenty seconds. ' +
      'The consumer rejects the message with requeue. No dead-letter exchange takes part.',
    topology: {
      queues: [
        queue('work', {
          'x-queue-type': 'quorum',
          'x-delayed-retry-type': 'all',
          'x-delayed-retry-min': 20_000,
        }),
      ],
    },
    question: 'Five seconds later, who has the message?',
    answers: ['The consumer, again', 'The queue, which delays it', 'RabbitMQ refused the arguments'],
    steps: [publish('work', 'a'), consume('work'), reject(true), wait(5)],
    why: 'RabbitMQ 3.10 does not know these arguments, and ignores them: the message returns at once.',
    ends: { 'c holds': ['a [work]'] },
    on4: {
      answer: 1,
      ends: {},
      why: 'Since 4.3 the queue itself delays what returns: neither ready nor held, until the time is over. A delivery limit ends it.',
    },
  },
  {
    id: 'at-most-once',
    title: 'At most once',
    rules: ['A10', 'C13'],
    text:
      'The usual strategy: a dead letter is published without a confirm, and leaves its queue at once. ' +
      'The target here is full, and refuses what comes.',
    topology: {
      exchanges: [exchange('dlx')],
      queues: [queue('work', dlx('dlx')), queue('dead', { 'x-max-length': 1, 'x-overflow': 'reject-publish' })],
      bindings: [bind('dlx', 'dead')],
    },
    question: 'Two messages are rejected. Where is the second one?',
    answers: ['Nowhere', 'In `work`', 'In `dead`'],
    steps: [publish('work', 'a'), publish('work', 'b'), consume('work'), reject(), reject()],
    why: '`b` had left `work` when `dead` refused it. So it is lost: that is the price of never filling up a queue with the dead.',
    ends: { dead: ['a [work] work/rejected 1'] },
  },
  {
    id: 'at-least-once',
    title: 'At least once',
    rules: ['M1', 'M2', 'M3'],
    text:
      'Quorum queues have another strategy since 3.10: `at-least-once`. ' +
      'The dead letter stays in its queue until every target has confirmed it. ' +
      'It needs the overflow `reject-publish`.',
    topology: {
      exchanges: [exchange('dlx')],
      queues: [careful(), queue('dead', { 'x-queue-type': 'quorum' })],
      bindings: [bind('dlx', 'dead')],
    },
    question: '`a` is rejected, and `dead` takes it. What is in `work`?',
    answers: ['Nothing', '`a`, until an operator deletes it', '`a`, for three minutes'],
    steps: [publish('work', 'a'), consume('work'), reject()],
    why: '`dead` confirmed it, so it left `work`. As long as all goes well the strategies look the same.',
    ends: { dead: ['a [work] work/rejected 1'] },
  },
  {
    id: 'kept',
    title: 'A dead letter that waits for its queue',
    rules: ['M3', 'M5'],
    text:
      'At least once again, and this time no queue is bound to the exchange. ' +
      'The message is rejected. A minute later a queue is bound.',
    topology: { exchanges: [exchange('dlx')], queues: [careful(), queue('dead')] },
    question: 'Four minutes after the rejection, where is the message?',
    answers: ['In `dead`', 'Nowhere', 'In `work`, ready'],
    steps: [
      publish('work', 'a'),
      consume('work'),
      reject(),
      wait(60),
      { do: 'bind', binding: bind('dlx', 'dead') },
      wait(180),
    ],
    why: '`work` kept it, not ready, but counted. RabbitMQ tries again every three minutes, and the second time `dead` was there.',
    ends: { dead: ['a [work] work/rejected 1'] },
    virtualOnly: 'three minutes are too long for a test',
  },
];
