import { type FieldTable, int32, longstr } from '../../libs/dlx-broker/src/engine/message/index.js';

export type Arguments = Readonly<Record<string, string | number>>;

/** Queues by name, each with the arguments it may be declared with. */
export const declarations: Readonly<Record<string, readonly Arguments[]>> = {
  work: [
    { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' },
    { 'x-dead-letter-exchange': 'fan', 'x-max-length': 5 },
  ],
  hurried: [
    { 'x-message-ttl': 40, 'x-dead-letter-exchange': 'fan' },
    { 'x-message-ttl': 0, 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'work' },
  ],
  short: [
    { 'x-max-length': 3, 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' },
    { 'x-max-length': 3, 'x-overflow': 'reject-publish-dlx', 'x-dead-letter-exchange': 'fan' },
    { 'x-max-length-bytes': 2_000, 'x-overflow': 'reject-publish' },
  ],
  important: [{ 'x-max-priority': 3, 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' }],
  agreed: [
    { 'x-queue-type': 'quorum', 'x-delivery-limit': 1, 'x-dead-letter-exchange': 'fan' },
    {
      'x-queue-type': 'quorum',
      'x-overflow': 'reject-publish',
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': 'dead',
      'x-dead-letter-strategy': 'at-least-once',
    },
  ],
  patient: [
    { 'x-queue-type': 'quorum', 'x-delayed-retry-type': 'all', 'x-delayed-retry-min': 20, 'x-delayed-retry-max': 50 },
  ],
  dead: [{}, { 'x-max-length': 20 }],
  copies: [{}, { 'x-queue-type': 'quorum' }],
  passing: [{}],
};

export const tableOf = (given: Arguments): FieldTable =>
  new Map(
    Object.entries(given).map(([name, value]) => [name, typeof value === 'string' ? longstr(value) : int32(value)]),
  );
