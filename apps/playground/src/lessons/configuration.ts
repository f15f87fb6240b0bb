import {
  bind,
  consume,
  dlx,
  exchange,
  type Lesson,
  policy,
  publish,
  queue,
  reject,
  wait,
  workAndDead,
} from './lesson.js';

/** Two queues with an exchange each, for dead letters of a queue `work` with these arguments. */
const twoDead = (table: Parameters<typeof queue>[1] = {}) => ({
  exchanges: [exchange('one'), exchange('two')],
  queues: [queue('work', table), queue('dead one'), queue('dead two')],
  bindings: [bind('one', 'dead one'), bind('two', 'dead two')],
});

/** Where a queue gets its dead-letter exchange from, and who may say so. */
export const configuration: readonly Lesson[] = [
  {
    id: 'no-dlx',
    title: 'Without a dead-letter exchange',
    rules: ['A7'],
    text:
      'Dead-lettering is a choice of each queue, and most queues do not make it. ' +
      'This queue has a time to live, and no dead-letter exchange.',
    topology: { queues: [queue('work', { 'x-message-ttl': 5_000 }), queue('dead')] },
    question: 'Where is the message after ten seconds?',
    answers: ['Nowhere', 'In `work`', 'In `dead`, by default'],
    steps: [publish('work', 'a'), wait(10)],
    why: 'What dies in a queue without a dead-letter exchange is dropped, without an error.',
    ends: {},
  },
  {
    id: 'late-dlx',
    title: 'An exchange that is not there',
    rules: ['A7', 'F2', 'G10'],
    text:
      'The queue names a dead-letter exchange that was never declared; RabbitMQ took the queue all the same. ' +
      'The first message dies. Then the exchange is declared and bound, and the second message dies.',
    topology: { queues: [queue('work', dlx('dlx')), queue('dead')] },
    question: 'What is in `dead`?',
    answers: ['`b`', '`a` and `b`', 'Nothing: the queue must be declared again'],
    steps: [
      publish('work', 'a'),
      publish('work', 'b'),
      consume('work'),
      reject(),
      { do: 'declare-exchange', exchange: exchange('dlx') },
      { do: 'bind', binding: bind('dlx', 'dead') },
      reject(),
    ],
    why: 'The name is looked up at each death, and not before. For `a` the exchange came too late: `a` was dropped, without an error.',
    ends: { dead: ['b [work] work/rejected 1'] },
  },
  {
    id: 'policy',
    title: 'By policy',
    rules: ['F1', 'F6'],
    text:
      'An operator can give queues a dead-letter exchange by a policy: a pattern of names, and settings. ' +
      'The queue was declared without arguments. The message waits in it already.',
    topology: { exchanges: [exchange('dlx')], queues: [queue('work'), queue('dead')], bindings: [bind('dlx', 'dead')] },
    question: 'The policy is set, then the message is rejected. Where is it?',
    answers: ['In `dead`', 'Nowhere: the queue was there before', 'In `work`'],
    steps: [
      publish('work', 'a'),
      consume('work'),
      policy('dlx', '^work$', { 'dead-letter-exchange': 'dlx' }),
      reject(),
    ],
    why: 'A policy acts at once, also on messages that wait or are held: the moment of death decides. No application is deployed anew.',
    ends: { dead: ['a [work] work/rejected 1'] },
  },
  {
    id: 'argument-wins',
    title: 'Argument against policy',
    rules: ['F3'],
    text:
      'The queue names the exchange `one` by its argument. A policy for the same queue names the exchange `two`. ' +
      'Arguments are for ever, policies come and go.',
    topology: twoDead(dlx('one')),
    question: 'Where does the dead letter go?',
    answers: ['To `dead one`', 'To `dead two`', 'To both'],
    steps: [
      policy('two', '^work$', { 'dead-letter-exchange': 'two' }),
      publish('work', 'a'),
      consume('work'),
      reject(),
    ],
    why: 'The argument overrules the policy. An exchange that you want to change later belongs in a policy only.',
    ends: { 'dead one': ['a [work] work/rejected 1'] },
  },
  {
    id: 'completed',
    title: 'Argument and policy together',
    rules: ['F3', 'F4'],
    text:
      'The argument names the exchange, and a time to live of a minute. ' +
      'A policy names a routing key, and a time to live of five seconds.',
    topology: {
      exchanges: [exchange('dlx', 'direct')],
      queues: [queue('work', { ...dlx('dlx'), 'x-message-ttl': 60_000 }), queue('dead')],
      bindings: [bind('dlx', 'dead', 'too-late')],
    },
    question: 'Where is the message after ten seconds?',
    answers: ['In `dead`', 'In `work`: arguments win', 'Nowhere: its key is `work`'],
    steps: [
      policy('late', '^work$', { 'dead-letter-routing-key': 'too-late', 'message-ttl': 5_000 }),
      publish('work', 'a'),
      wait(10),
    ],
    why: 'Each setting is looked at by itself: the policy completes the argument. Of two numbers the smaller one holds.',
    ends: { dead: ['a [too-late] work/expired 1'] },
  },
  {
    id: 'two-policies',
    title: 'Two policies for one queue',
    rules: ['F7'],
    text:
      'A general policy gives all queues an exchange and a time to live. ' +
      'A special one, of higher priority, gives this queue another exchange, and says nothing about time.',
    topology: twoDead(),
    question: 'What happens to a message within ten seconds?',
    answers: ['It stays in `work`', 'It expires, to `dead two`', 'It expires, to `dead one`'],
    steps: [
      policy('general', '.*', { 'dead-letter-exchange': 'one', 'message-ttl': 5_000 }),
      policy('special', '^work$', { 'dead-letter-exchange': 'two' }, 10),
      publish('work', 'a'),
      wait(10),
    ],
    why: 'Policies are not merged: the one of the highest priority applies as a whole. The time to live is in the other one.',
    ends: { work: ['a [work]'] },
  },
  {
    id: 'key-alone',
    title: 'A key without an exchange',
    rules: ['F5'],
    text:
      'The argument `x-dead-letter-routing-key` replaces the key of a dead letter. ' +
      'Here a client declares a queue with that argument, and forgets the exchange.',
    topology: { queues: [queue('dead')] },
    question: 'What does RabbitMQ do?',
    answers: ['It refuses the queue', 'It uses the default exchange', 'It ignores the key'],
    steps: [{ do: 'declare-queue', queue: queue('work', { 'x-dead-letter-routing-key': 'dead' }) }],
    why: 'A dead-letter key by argument needs an exchange by argument: 406, and the channel is closed. An empty name is the default exchange.',
    ends: { refused: ['declare-queue 406'] },
  },
  {
    id: 'redeclared',
    title: 'A queue that is there already',
    rules: ['F10'],
    text:
      'The queue exists with the dead-letter exchange `one`. ' +
      'The next version of the application declares it with the exchange `two`. A declaration of an existing queue compares.',
    topology: twoDead(dlx('one')),
    question: 'A message dies afterwards. Where does it go?',
    answers: ['To `dead one`', 'To `dead two`', 'To both'],
    steps: [{ do: 'declare-queue', queue: queue('work', dlx('two')) }, publish('work', 'a'), consume('work'), reject()],
    why: 'The declaration was refused with 406, and the application probably does not start. Arguments cannot be changed; a policy can.',
    ends: { 'dead one': ['a [work] work/rejected 1'], refused: ['declare-queue 406'] },
  },
  {
    id: 'permissions',
    title: 'Who may name an exchange',
    rules: ['N2'],
    text:
      'Without a check, users could write to any exchange by letting messages die. ' +
      'So a new queue with a dead-letter exchange needs more than the right to configure it. ' +
      '`maria` may write nowhere, and `peter` may read nothing.',
    topology: { exchanges: [exchange('dlx')] },
    question: 'Each declares a plain queue, and one with a dead-letter exchange. Which are refused?',
    answers: ['Both with the exchange', 'That of `maria` with the exchange', 'All four'],
    steps: [
      { do: 'permissions', user: 'maria', configure: '.*', write: '^$', read: '.*' },
      { do: 'permissions', user: 'peter', configure: '.*', write: '.*', read: '^$' },
      { do: 'declare-queue', queue: queue('plain one'), user: 'maria' },
      { do: 'declare-queue', queue: queue('work one', dlx('dlx')), user: 'maria' },
      { do: 'declare-queue', queue: queue('plain two'), user: 'peter' },
      { do: 'declare-queue', queue: queue('work two', dlx('dlx')), user: 'peter' },
      publish('plain one', 'a'),
      publish('plain two', 'b'),
    ],
    why: 'It needs `read` on the queue and `write` on the exchange, when the queue is declared: 403, twice. The plain queues are there.',
    ends: {
      'plain one': ['a [plain one]'],
      'plain two': ['b [plain two]'],
      refused: ['declare-queue 403', 'declare-queue 403'],
    },
  },
  {
    id: 'restart',
    title: 'A restart in between',
    rules: ['L1', 'J2'],
    text:
      'Queues are durable here. One message is persistent and one is not; a third one is dead already, and persistent. ' +
      'The broker is restarted.',
    topology: workAndDead(),
    question: 'What is lost?',
    answers: ['The message that is not persistent', 'What was dead', 'All'],
    steps: [
      publish('work', 'a'),
      consume('work'),
      reject(),
      publish('work', 'b', { persistent: false }),
      publish('work', 'c'),
      { do: 'restart' },
    ],
    why: 'A durable queue keeps persistent messages, with all headers: the history of a dead letter survives, too. Dead letters keep their delivery mode.',
    ends: { work: ['c [work]'], dead: ['a [work] work/rejected 1'] },
    virtualOnly: 'a test does not restart a broker that others use',
  },
];
