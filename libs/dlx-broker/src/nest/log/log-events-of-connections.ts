import { line } from './log-line-kind.js';

/** The lines about the connection to a RabbitMQ. */
export const connectionLogEvents = {
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
} as const;
