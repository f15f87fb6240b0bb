import { line } from './log-line-kind.js';

/** The lines about what a start opened, and about what it found that is probably a mistake. */
export const startLogEvents = {
  handlersUnseen: line({
    level: 'warn',
    fields: ['handlers'],
    says: 'methods whose names are symbols get no messages',
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
  retryUnused: line({ level: 'warn', fields: [], says: '`queueRetry` names a queue that no handler consumes' }),
  deathHookUnused: line({
    level: 'warn',
    fields: ['handler'],
    says: '`@OnDeadLetter` names a parking lot, or a queue that the application neither consumes nor declares',
  }),
  healthQueueUnknown: line({
    level: 'warn',
    fields: ['queue'],
    says: '`health.deadLetters.queues` names such a queue',
  }),
  statusEventMissing: line({
    level: 'warn',
    fields: ['listener'],
    says: '`DlxServer.on` was called with an event; there are none',
  }),
  brokerFound: line({ level: 'log', fields: [], says: 'where the broker is: in memory, or which server' }),
  metricsOpened: line({ level: 'log', fields: ['url'], says: 'where the metrics are' }),
  amqpOpened: line({ level: 'log', fields: ['host', 'port'], says: 'where AMQP clients may connect' }),
  apiOpened: line({ level: 'log', fields: ['url'], says: 'where the management API is' }),
  consoleOpened: line({ level: 'log', fields: ['url'], says: 'where the console is' }),
} as const;
