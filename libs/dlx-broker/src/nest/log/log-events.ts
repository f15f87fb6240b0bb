/** The levels of Nest's logger, and `off` for no line. */
export type LineLevel = 'error' | 'warn' | 'log' | 'debug' | 'verbose' | 'off';

/**
 * A kind of line in the log.
 * @param level the default level
 * @param fields the names of the fields besides `message` and `event`
 * @param says what the sentence says, for the docs
 */
const line = <F extends string>(level: LineLevel, fields: readonly F[], says: string) => ({ level, fields, says });

const failure = ['errorClass', 'errorMessage'] as const;
const stopped = ['time', 'waited', 'returned', 'unsettled'] as const;
const attempt = ['handler', 'queue', 'attempt', 'attempts', ...failure] as const;

/** Every line that the library writes by Nest's logger, by the name of its event. */
export const logEvents = {
  retried: line('warn', [...attempt, 'delay'], 'an attempt failed, and another one follows after `delay` ms'),
  failed: line(
    'error',
    [...attempt, 'fate'],
    'the last attempt failed; the line has the stack if the message was rejected, or with `stacks`',
  ),
  dropped: line('warn', attempt, 'the handler dropped the message'),
  held: line('debug', [...attempt, 'delay'], 'a service was away, and the same attempt follows after `delay` ms'),
  circuitOpened: line(
    'warn',
    ['circuit', 'pause', 'reason'],
    'a circuit opened: its handlers get no messages for `pause` ms',
  ),
  circuitProbing: line(
    'debug',
    ['circuit', 'pause', 'reason'],
    'an open circuit tries a message, or the message failed and it stays open for `pause` ms',
  ),
  circuitClosed: line('log', ['circuit'], 'a circuit closed: its handlers get messages again'),
  circuitDoubtful: line('warn', ['circuit', ...failure], 'the probe of a circuit, or its function `on`, failed'),
  handlerPaused: line('warn', ['handler', 'queue', 'reason'], 'a handler was paused'),
  handlerResumed: line('log', ['handler', 'queue'], 'a paused handler was resumed'),
  unhandled: line('error', ['queue', 'fate'], 'a message that no handler could get was parked'),
  shortened: line(
    'warn',
    ['handler', 'queue', 'attempts', 'leftOut'],
    'a message goes on without headers about its failure, which had no room',
  ),
  headersLost: line(
    'warn',
    ['handler', 'queue'],
    'a dead letter lacks the headers of its `Reject`, which the server cannot add; once for each handler',
  ),
  fingerprintFailed: line('warn', failure, 'the function of option `fingerprint` failed; once'),
  noticeLost: line(
    'warn',
    ['queue', ...failure],
    'a message was parked without its notice (option `notices`); once for each queue',
  ),
  startWaits: line('warn', ['handler'], 'the start waits for the function of a `@HandlerAsync` for 10 seconds'),
  pauseWaits: line('warn', ['handler'], 'the pause of a handler waits for 10 seconds'),
  deathHookFailed: line(
    'error',
    ['handler', ...failure],
    'a method with `@OnDeadLetter` threw an error; the line has the stack',
  ),
  deathHookHangs: line(
    'warn',
    ['handler'],
    'a method with `@OnDeadLetter` does not end, or has too many calls under way',
  ),
  unsettled: line(
    'warn',
    ['handler', 'queue', 'attempts', ...failure],
    'a message could not be settled or republished; the line says what happens to it',
  ),
  unknownPattern: line('error', ['queue', 'pattern'], 'no handler of the queue is for the pattern of a message'),
  unreadable: line('error', ['queue', ...failure], 'a message that no handler can take is refused'),
  unrefused: line('error', ['queue', ...failure], 'a message that no handler can take cannot be refused'),
  denied: line('warn', ['handler'], 'a guard denied a dead letter; once for each handler'),
  packetSuspected: line('warn', ['queue'], "a body looks like a packet of Nest's RabbitMQ transport"),
  errorsUnseen: line('warn', ['handler'], 'the interceptor that sees errors of handlers is missing'),
  hookFailed: line('error', ['handler', ...failure], 'a processing hook of a tracing tool failed'),
  endFailed: line('error', ['handler', ...failure], 'the end of an attempt failed; the line has the stack'),
  keyMissing: line('warn', ['handler'], '`@Idempotent` got a message without a key; once'),
  leaseTooShort: line(
    'warn',
    ['handler', 'took', 'lease'],
    'a handler took longer than the lease of its `@Idempotent`; once for each handler',
  ),
  keyNotStored: line('error', ['handler', ...failure], 'the store of `@Idempotent` did not take an outcome'),
  orderAtRisk: line(
    'warn',
    ['handler', 'queue'],
    'settings beside `@Ordered` may drop messages, or let two instances work at once',
  ),
  waitCut: line(
    'warn',
    ['handler', 'delay'],
    'a wait of `@Ordered` was longer than `holdAtMost`, and was cut to `delay` ms; once for each queue',
  ),
  stalled: line(
    'warn',
    ['queue', 'handler'],
    'the window of `@Ordered` is full of messages that wait, and no other key goes on',
  ),
  recovered: line('log', ['queue', 'handler'], 'a queue that was `stalled` goes on'),
  tracingFailed: line('warn', failure, 'tracing failed; once'),
  emitFailed: line('error', ['pattern', ...failure], 'an event without a subscriber was not published'),
  unroutable: line(
    'warn',
    ['exchange', 'routingKey'],
    'an event reached no queue, or a delayed one would reach none now; once for each routing key',
  ),
  handlerStarted: line('log', ['handler', 'queue'], 'a handler starts (option `logHandlers`)'),
  failuresLost: line(
    'warn',
    ['handler', 'queue'],
    'messages on which a handler fails, or that return too often, are lost',
  ),
  topologyDoubtful: line('warn', [], 'a declaration has no effect, loses dead letters, or was changed'),
  handlerStuck: line(
    'warn',
    ['handler', 'queue', 'count'],
    'a handler is at work for longer than option `stuckAfter`; once until it is not',
  ),
  takenBack: line(
    'warn',
    ['handler', 'queue', 'count', 'limit'],
    'a handler was at work for longer than the consumer timeout of the server, `limit` ms',
  ),
  handlersMisplaced: line('warn', ['handlers'], 'methods of providers have decorators for controllers'),
  handlersUnserved: line('warn', ['handlers'], 'handlers get no messages, because no `DlxServer` is connected'),
  handlersNotRegistered: line('log', [], 'handlers get no messages in this process (option `registerHandlers`)'),
  serverNotStarted: line('warn', ['patterns'], 'the `DlxServer` is connected and not started'),
  signalUnhandled: line('warn', [], 'SIGTERM ends the process without waiting for handlers'),
  timeoutTooLong: line(
    'warn',
    ['handler', 'queue'],
    'the server takes a message back before the time limit of its handler is over, or the handler has none',
  ),
  brokerFound: line(
    'log',
    ['amqp', 'api', 'console', 'metrics'],
    'where the broker and its open ports are, and which RabbitMQ it behaves like',
  ),
  consumerEnded: line(
    'warn',
    ['queue', 'pause', ...failure],
    'the broker ended a consumer, which starts again after `pause` ms',
  ),
  consumerNotRestored: line('error', ['queue', ...failure], 'a queue cannot be consumed again; it is tried again'),
  stopped: line('log', stopped, 'the shutdown waited `time` ms for `waited` messages at work'),
  messagesReturned: line(
    'warn',
    stopped,
    'the same, and messages at work or letters of streams went back to their queues',
  ),
  pipelineFailed: line(
    'error',
    ['queues', 'pause', ...failure],
    'a stream of dead letters failed and restarts after `pause` ms; the line has the stack',
  ),
  pipelineFailing: line('warn', ['queues', 'times', 'pause'], 'it failed 10 times in a row, 100 times ...'),
  pipelineEnded: line(
    'error',
    ['queues', ...failure],
    'a stream of dead letters threw an error when it ended; the line has the stack',
  ),
  observerFailed: line('error', failure, 'the function that looks at the tasks of a schedule of redrives failed'),
  redriveFailed: line(
    'warn',
    ['queues', ...failure],
    'a redrive of a schedule failed; once for each error until one succeeds',
  ),
  subscriberFailed: line(
    'error',
    failure,
    'a subscriber threw an error at the end of its stream; the line has the stack',
  ),
  closeFailed: line('error', failure, 'a step of the shutdown failed, and the others followed; the line has the stack'),
  letterAgeUnknown: line('warn', failure, 'health does not tell the age of dead letters; once'),
  notConnected: line('warn', ['reason'], '`rabbitmq()`: the first connection failed so far'),
  connectionLost: line(
    'warn',
    ['reason'],
    '`rabbitmq()`: the connection was lost, or is still missing for another reason',
  ),
  connected: line('warn', [], '`rabbitmq()`: connected after `notConnected` or `connectionLost`'),
  blocked: line('warn', ['reason'], '`rabbitmq()`: publishes wait, because the server has an alarm'),
  unblocked: line('warn', [], '`rabbitmq()`: publishes go on'),
  declarationWaits: line(
    'warn',
    ['reason'],
    '`rabbitmq()`: the server cannot declare something now; it is tried again',
  ),
  declarationFailed: line('warn', ['reason'], '`rabbitmq()`: something could not be declared again after a reconnect'),
  comparedByDeclaring: line('warn', ['reason'], '`rabbitmq()`: the management API did not show what exists'),
  policyConflict: line('warn', [], '`rabbitmq()`: a policy changes what a queue needs'),
  policiesUnchecked: line('warn', ['reason'], '`rabbitmq()`: policies could not be looked at'),
  republishedInDoubt: line(
    'warn',
    [],
    '`rabbitmq()`: a consumer closed, and messages that were being republished may be there twice',
  ),
  messagesLost: line('warn', ['count'], 'the application closed a broker in memory that still had messages'),
  directoryTaken: line('warn', ['directory'], 'the data directory was taken from an application that hangs'),
  notice: line('log', [], 'a notice for operators: a refused login, an alarm, what the data directory has'),
  fault: line('error', failure, 'a fault of a disk, of a callback or of this library; the line has the stack'),
} as const;

export type LineEvent = keyof typeof logEvents;

/** The lines that say of a handler no more than its name and its queue. */
export type HandlerLine = {
  [E in LineEvent]: (typeof logEvents)[E]['fields'][number] extends 'handler' | 'queue' ? E : never;
}[LineEvent];

/** The facts of a line. None of them is a payload or the value of a header. */
export type LineFields = Readonly<Record<string, string | number | undefined>>;

/** The fields of an event. All have to be named, so that the table is true. */
export type FieldsOf<E extends LineEvent> = Readonly<
  Record<(typeof logEvents)[E]['fields'][number], string | number | undefined>
>;
