import { bind, cancel, consume, dlx, exchange, type Lesson, publish, queue, reject, wait } from './lesson.js';

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
      'A message in it has the key work: so its dead letter goes to work again. ' +
      'It expires after five seconds.',
    topology: { queues: [waiting('work', 5_000)] },
    question: 'Where is the message after a minute?',
    answers: ['Nowhere', 'In work, for the twelfth time', 'In work, once and for all'],
    steps: [publish('work', 'a'), wait(60)],
    why: 'A dead letter that reaches the same queue again, without a rejection on the way, is dropped. Otherwise it would go round for ever.',
    ends: {},
  },
  {
    id: 'cycle-of-two',
    title: 'A cycle of two queues',
    rules: ['E5', 'I2'],
    text: 'Two queues dead-letter to each other. Messages expire in both of them. ' + 'No consumer is there.',
    topology: { queues: [waiting('one', 5_000, 'two'), waiting('two', 5_000, 'one')] },
    question: 'The message starts in one. Where does it end?',
    answers: ['It is dropped on its way from two back to one', 'It goes round for ever', 'It stays in two'],
    steps: [publish('one', 'a'), wait(12)],
    why: 'Entering two is no cycle yet. Going back to one closes a cycle of nothing but expiries.',
    ends: {},
  },
  {
    id: 'delayed-retry',
    title: 'Delayed retry',
    rules: ['E1', 'I1'],
    text:
      'The most useful topology of all: work dead-letters to wait, and wait dead-letters back after ten seconds. ' +
      'It is a cycle, like the one before. But a consumer rejects.',
    topology: { queues: [queue('work', dlx('', 'wait')), waiting('wait', 10_000, 'work')] },
    question: 'Is the message dropped on its way back?',
    answers: ['No: it was rejected', 'Yes, the first time', 'Yes, the second time'],
    steps: [publish('work', 'a'), consume('work'), reject(), wait(14)],
    why: 'A rejection is a decision of a consumer, so the cycle is wanted, and never cut. The consumer has the message again, with its history.',
    ends: { 'c holds': ['a [work] wait/expired 1, work/rejected 1'] },
  },
  {
    id: 'only-that-target',
    title: 'Only one target is left out',
    rules: ['I3'],
    text:
      'The dead-letter exchange of work leads to two queues: back to work, and to a log. ' +
      'Messages expire in work after five seconds.',
    topology: {
      exchanges: [exchange('dlx')],
      queues: [queue('work', { ...dlx('dlx'), 'x-message-ttl': 5_000 }), queue('log')],
      bindings: [bind('dlx', 'work'), bind('dlx', 'log')],
    },
    question: 'What is left after a minute?',
    answers: ['The message in log', 'Nothing', 'The message in work and in log'],
    steps: [publish('work', 'a'), wait(60)],
    why: 'Each target is looked at by itself. work would close the cycle, and is left out; log gets its copy.',
    ends: { log: ['a [work] work/expired 1'] },
  },
  {
    id: 'ladder',
    title: 'A ladder of wait queues',
    rules: ['V2', 'I5', 'W5'],
    text:
      'Some build longer delays of two short ones: a rejected message waits in step1, then in step2, and returns to work. ' +
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
      'A quorum queue has the argument x-delayed-retry-type, and a shortest delay of twenty seconds. ' +
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
    id: 'wait-queue-full',
    title: 'A wait queue that is full',
    rules: ['E4', 'C12'],
    text:
      'A wait queue is bounded to one message, for fear of too many retries. ' +
      'Two messages are to wait for a minute.',
    topology: {
      queues: [queue('work'), queue('wait', { ...dlx('', 'work'), 'x-message-ttl': 60_000, 'x-max-length': 1 })],
    },
    question: 'When does the first message return?',
    answers: ['At once', 'After a minute', 'Never'],
    steps: [publish('wait', 'a'), publish('wait', 'b')],
    why: 'The second message pushes the first one out, and the dead letter of maxlen takes the same way as that of expired.',
    ends: { work: ['a [work] wait/maxlen 1'], wait: ['b [wait]'] },
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
    answers: ['Nowhere', 'In work', 'In dead'],
    steps: [publish('work', 'a'), publish('work', 'b'), consume('work'), reject(), reject()],
    why: 'b had left work when dead refused it. So it is lost: that is the price of never filling up a queue with the dead.',
    ends: { dead: ['a [work] work/rejected 1'] },
  },
  {
    id: 'at-least-once',
    title: 'At least once',
    rules: ['M1', 'M2', 'M3'],
    text:
      'Quorum queues have another strategy since 3.10: at-least-once. ' +
      'The dead letter stays in its queue until every target has confirmed it. ' +
      'It needs the overflow reject-publish.',
    topology: {
      exchanges: [exchange('dlx')],
      queues: [careful(), queue('dead', { 'x-queue-type': 'quorum' })],
      bindings: [bind('dlx', 'dead')],
    },
    question: 'a is rejected, and dead takes it. What is in work?',
    answers: ['Nothing', 'a, until an operator deletes it', 'a, for three minutes'],
    steps: [publish('work', 'a'), consume('work'), reject()],
    why: 'dead confirmed it, so it left work. As long as all goes well the strategies look the same.',
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
    answers: ['In dead', 'Nowhere', 'In work, ready'],
    steps: [
      publish('work', 'a'),
      consume('work'),
      reject(),
      wait(60),
      { do: 'bind', binding: bind('dlx', 'dead') },
      wait(180),
    ],
    why: 'work kept it, not ready, but counted. RabbitMQ tries again every three minutes, and the second time dead was there.',
    ends: { dead: ['a [work] work/rejected 1'] },
    virtualOnly: 'three minutes are too long for a test',
  },
  {
    id: 'counted',
    title: 'Kept letters fill the queue',
    rules: ['M5', 'D7'],
    text:
      'The price of at-least-once: letters that cannot arrive stay, and count. ' +
      'The queue is for two messages, and its dead-letter exchange leads nowhere. Two are rejected, one after the other, and more are published.',
    topology: { exchanges: [exchange('dlx')], queues: [careful({ 'x-max-length': 2 })] },
    question: 'How many of the later messages does work take?',
    answers: ['One', 'All', 'None'],
    steps: [
      consume('work'),
      publish('work', 'a'),
      reject(),
      publish('work', 'b'),
      reject(),
      cancel(),
      publish('work', 'c'),
      publish('work', 'd'),
    ],
    why: 'Both kept letters count, and a quorum queue takes one message above its limit. Then it refuses. Watch the length of such queues.',
    ends: { work: ['c [work]'] },
  },
];
