/** The levels of Nest's logger, and `off` for no line. */
export type LineLevel = 'error' | 'warn' | 'log' | 'debug' | 'verbose' | 'off';

/** A kind of line in the log. */
interface LineKind<F extends string> {
  /** The default level. */
  readonly level: LineLevel;
  /** The names of the fields besides `message` and `event`. */
  readonly fields: readonly F[];
  /** What the sentence says, for the docs. */
  readonly says: string;
}

/** Keeps the names of the fields for the compiler, and not the sentence. */
const line = <F extends string>(kind: LineKind<F>): LineKind<F> => kind;

const failure = ['errorClass', 'errorMessage'] as const;
const attempt = ['handler', 'queue', 'attempt', 'attempts', ...failure] as const;

/** Every line that the library writes by Nest's logger, by the name of its event. */
export const logEvents = {
  retried: line({
    level: 'warn',
    fields: [...attempt, 'delay'],
    says: 'an attempt failed, and another one follows after `delay` ms',
  }),
  failed: line({
    level: 'error',
    fields: [...attempt, 'fate'],
    says: 'the last attempt failed; the line has the stack if the message was rejected, or with `stacks`',
  }),
  dropped: line({ level: 'warn', fields: attempt, says: 'the handler dropped the message' }),
  held: line({
    level: 'debug',
    fields: [...attempt, 'delay'],
    says: 'a service was away, and the same attempt follows after `delay` ms',
  }),
  circuitOpened: line({
    level: 'warn',
    fields: ['circuit', 'pause', 'reason'],
    says: 'a circuit opened: its handlers get no messages for `pause` ms',
  }),
  circuitProbing: line({
    level: 'debug',
    fields: ['circuit', 'pause', 'reason'],
    says: 'an open circuit tries a message, or the message failed and it stays open for `pause` ms',
  }),
  circuitClosed: line({ level: 'log', fields: ['circuit'], says: 'a circuit closed: its handlers get messages again' }),
  circuitDoubtful: line({
    level: 'warn',
    fields: ['circuit', ...failure],
    says: 'the probe of a circuit, or its function `on`, failed',
  }),
  handlerPaused: line({ level: 'warn', fields: ['handler', 'queue', 'reason'], says: 'a handler was paused' }),
  handlerResumed: line({ level: 'log', fields: ['handler', 'queue'], says: 'a paused handler was resumed' }),
  unhandled: line({
    level: 'error',
    fields: ['queue', 'fate'],
    says: 'a message that no handler could get was parked',
  }),
  shortened: line({
    level: 'warn',
    fields: ['handler', 'queue', 'attempts', 'leftOut'],
    says: 'a message goes on without headers about its failure, which had no room',
  }),
  fingerprintFailed: line({
    level: 'warn',
    fields: failure,
    says: 'the function of option `fingerprint` failed; once',
  }),
  noticeLost: line({
    level: 'warn',
    fields: ['queue', ...failure],
    says: 'a message was parked without its notice (option `notices`); once for each queue',
  }),
  pauseWaits: line({ level: 'warn', fields: ['handler'], says: 'the pause of a handler waits for 10 seconds' }),
  deathHookFailed: line({
    level: 'error',
    fields: ['handler', ...failure],
    says: 'a method with `@OnDeadLetter` threw an error; the line has the stack',
  }),
  deathHookHangs: line({
    level: 'warn',
    fields: ['handler'],
    says: 'a method with `@OnDeadLetter` does not end, or has too many calls under way',
  }),
  unsettled: line({
    level: 'warn',
    fields: ['handler', 'queue', 'attempts', ...failure],
    says: 'a message could not be settled or republished; the line says what happens to it',
  }),
  unknownPattern: line({
    level: 'error',
    fields: ['queue', 'pattern'],
    says: 'no handler of the queue is for the pattern of a message',
  }),
  unreadable: line({
    level: 'error',
    fields: ['queue', ...failure],
    says: 'a message that no handler can take is refused',
  }),
  unrefused: line({
    level: 'error',
    fields: ['queue', ...failure],
    says: 'a message that no handler can take cannot be refused',
  }),
  denied: line({ level: 'warn', fields: ['handler'], says: 'a guard denied a dead letter; once for each handler' }),
  packetSuspected: line({
    level: 'warn',
    fields: ['queue'],
    says: "a body looks like a packet of Nest's RabbitMQ transport",
  }),
  errorsUnseen: line({
    level: 'warn',
    fields: ['handler'],
    says: 'the interceptor that sees errors of handlers is missing',
  }),
  hookFailed: line({
    level: 'error',
    fields: ['handler', ...failure],
    says: 'a processing hook of a tracing tool failed',
  }),
  endFailed: line({
    level: 'error',
    fields: ['handler', ...failure],
    says: 'the end of an attempt failed; the line has the stack',
  }),
  keyMissing: line({ level: 'warn', fields: ['handler'], says: '`@Idempotent` got a message without a key; once' }),
  leaseTooShort: line({
    level: 'warn',
    fields: ['handler', 'took', 'lease'],
    says: 'a handler took longer than the lease of its `@Idempotent`; once for each handler',
  }),
  keyNotStored: line({
    level: 'error',
    fields: ['handler', ...failure],
    says: 'the store of `@Idempotent` did not take an outcome',
  }),
  orderAtRisk: line({
    level: 'warn',
    fields: ['handler', 'queue'],
    says: 'settings beside `@Ordered` may drop messages, or let two instances work at once',
  }),
  waitCut: line({
    level: 'warn',
    fields: ['handler', 'delay'],
    says: 'a wait of `@Ordered` was longer than `holdAtMost`, and was cut to `delay` ms; once for each queue',
  }),
  stalled: line({
    level: 'warn',
    fields: ['queue', 'handler'],
    says: 'the window of `@Ordered` is full of messages that wait, and no other key goes on',
  }),
  recovered: line({ level: 'log', fields: ['queue', 'handler'], says: 'a queue that was `stalled` goes on' }),
  tracingFailed: line({ level: 'warn', fields: failure, says: 'tracing failed; once' }),
  emitFailed: line({
    level: 'error',
    fields: ['pattern', ...failure],
    says: 'an event without a subscriber was not published',
  }),
  unroutable: line({
    level: 'warn',
    fields: ['exchange', 'routingKey'],
    says: 'an event reached no queue, or a delayed one would reach none now; once for each routing key',
  }),
  handlerStarted: line({ level: 'log', fields: ['handler', 'queue'], says: 'a handler starts (option `logHandlers`)' }),
  failuresLost: line({
    level: 'warn',
    fields: ['handler', 'queue'],
    says: 'messages on which a handler fails are lost',
  }),
  topologyDoubtful: line({
    level: 'warn',
    fields: [],
    says: 'a declaration has no effect, loses dead letters, or was changed',
  }),
  handlerStuck: line({
    level: 'warn',
    fields: ['handler', 'queue', 'count'],
    says: 'a handler is at work for longer than option `stuckAfter`; once until it is not',
  }),
  takenBack: line({
    level: 'warn',
    fields: ['handler', 'queue', 'count', 'limit'],
    says: 'a handler was at work for longer than the consumer timeout of the server, `limit` ms',
  }),
  handlersMisplaced: line({
    level: 'warn',
    fields: ['handlers'],
    says: 'methods of providers have decorators for controllers',
  }),
  handlersUnserved: line({
    level: 'warn',
    fields: ['handlers'],
    says: 'handlers get no messages, because no `DlxServer` is connected',
  }),
  serverNotStarted: line({ level: 'warn', fields: ['patterns'], says: 'the `DlxServer` is connected and not started' }),
  signalUnhandled: line({ level: 'warn', fields: [], says: 'SIGTERM ends the process without waiting for handlers' }),
  timeoutTooLong: line({
    level: 'warn',
    fields: ['handler', 'queue'],
    says: 'the server takes a message back before the time limit of its handler is over, or the handler has none',
  }),
  brokerFound: line({ level: 'log', fields: [], says: 'where the broker is: in memory, or which server' }),
  metricsOpened: line({ level: 'log', fields: ['url'], says: 'where the metrics are' }),
  amqpOpened: line({ level: 'log', fields: ['host', 'port'], says: 'where AMQP clients may connect' }),
  apiOpened: line({ level: 'log', fields: ['url'], says: 'where the management API is' }),
  consoleOpened: line({ level: 'log', fields: ['url'], says: 'where the console is' }),
  consumerEnded: line({
    level: 'warn',
    fields: ['queue', 'pause', ...failure],
    says: 'the broker ended a consumer, which starts again after `pause` ms',
  }),
  consumerNotRestored: line({
    level: 'error',
    fields: ['queue', ...failure],
    says: 'a queue cannot be consumed again; it is tried again',
  }),
  messagesReturned: line({
    level: 'warn',
    fields: ['queue', 'count'],
    says: 'at the end, messages were still at work and go back to their queue',
  }),
  lettersReturned: line({
    level: 'warn',
    fields: ['queue', 'count'],
    says: 'at the end, letters of a stream were unsettled and go back to their queue',
  }),
  pipelineFailed: line({
    level: 'error',
    fields: ['queues', 'pause', ...failure],
    says: 'a stream of dead letters failed and restarts after `pause` ms; the line has the stack',
  }),
  pipelineFailing: line({
    level: 'warn',
    fields: ['queues', 'times', 'pause'],
    says: 'it failed 10 times in a row, 100 times ...',
  }),
  pipelineEnded: line({
    level: 'error',
    fields: ['queues', ...failure],
    says: 'a stream of dead letters threw an error when it ended; the line has the stack',
  }),
  observerFailed: line({
    level: 'error',
    fields: failure,
    says: 'the function that looks at the tasks of a schedule of redrives failed',
  }),
  redriveFailed: line({
    level: 'warn',
    fields: ['queues', ...failure],
    says: 'a redrive of a schedule failed; once for each error until one succeeds',
  }),
  subscriberFailed: line({
    level: 'error',
    fields: failure,
    says: 'a subscriber threw an error at the end of its stream; the line has the stack',
  }),
  closeFailed: line({
    level: 'error',
    fields: failure,
    says: 'a step of the shutdown failed, and the others followed; the line has the stack',
  }),
  letterAgeUnknown: line({
    level: 'warn',
    fields: failure,
    says: 'health does not tell the age of dead letters; once',
  }),
  notConnected: line({ level: 'warn', fields: ['reason'], says: '`rabbitmq()`: the first connection failed so far' }),
  connectionLost: line({
    level: 'warn',
    fields: ['reason'],
    says: '`rabbitmq()`: the connection was lost, or is still missing for another reason',
  }),
  connected: line({
    level: 'warn',
    fields: [],
    says: '`rabbitmq()`: connected after `notConnected` or `connectionLost`',
  }),
  blocked: line({
    level: 'warn',
    fields: ['reason'],
    says: '`rabbitmq()`: publishes wait, because the server has an alarm',
  }),
  unblocked: line({ level: 'warn', fields: [], says: '`rabbitmq()`: publishes go on' }),
  declarationWaits: line({
    level: 'warn',
    fields: ['reason'],
    says: '`rabbitmq()`: the server cannot declare something now; it is tried again',
  }),
  declarationFailed: line({
    level: 'warn',
    fields: ['reason'],
    says: '`rabbitmq()`: something could not be declared again after a reconnect',
  }),
  comparedByDeclaring: line({
    level: 'warn',
    fields: ['reason'],
    says: '`rabbitmq()`: the management API did not show what exists',
  }),
  policyConflict: line({ level: 'warn', fields: [], says: '`rabbitmq()`: a policy changes what a queue needs' }),
  policiesUnchecked: line({ level: 'warn', fields: ['reason'], says: '`rabbitmq()`: policies could not be looked at' }),
  republishedInDoubt: line({
    level: 'warn',
    fields: [],
    says: '`rabbitmq()`: a consumer closed, and messages that were being republished may be there twice',
  }),
  messagesLost: line({
    level: 'warn',
    fields: ['count'],
    says: 'the application closed a broker in memory that still had messages',
  }),
  directoryTaken: line({
    level: 'warn',
    fields: ['directory'],
    says: 'the data directory was taken from an application that hangs',
  }),
  notice: line({
    level: 'log',
    fields: [],
    says: 'a notice for operators: a refused login, an alarm, what the data directory has',
  }),
  fault: line({
    level: 'error',
    fields: failure,
    says: 'a fault of a disk, of a callback or of this library; the line has the stack',
  }),
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
