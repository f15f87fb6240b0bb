import { duration, flag, oneOf, text, whole, type Accepts } from './accepts.js';

/** One setting of one decorator and the one thing it becomes. */
export interface DecoratorRow {
  /** Without the `@`. */
  readonly decorator: string;
  /** `value` is the decorator's own parameter; anything else a name in its options. */
  readonly setting: string;
  /** An argument of the handler's queue, or an option of its consumer. */
  readonly of: 'queue' | 'consumer';
  /** `x-...` for a queue; `prefetch` or `priority` for a consumer. */
  readonly becomes: string;
  readonly accepts: Accepts;
}

const any = Number.MAX_SAFE_INTEGER;

/** Every decorator that says something about a queue or a consumer. docs/decorators.md shows this table. */
export const decoratorTable: readonly DecoratorRow[] = [
  { decorator: 'Ttl', setting: 'value', of: 'queue', becomes: 'x-message-ttl', accepts: duration(0) },
  { decorator: 'Expires', setting: 'value', of: 'queue', becomes: 'x-expires', accepts: duration(1) },
  { decorator: 'MaxLength', setting: 'value', of: 'queue', becomes: 'x-max-length', accepts: whole(0, any) },
  { decorator: 'MaxLengthBytes', setting: 'value', of: 'queue', becomes: 'x-max-length-bytes', accepts: whole(0, any) },
  { decorator: 'MaxLength', setting: 'overflow', of: 'queue', becomes: 'x-overflow', accepts: overflow() },
  { decorator: 'MaxLengthBytes', setting: 'overflow', of: 'queue', becomes: 'x-overflow', accepts: overflow() },
  { decorator: 'DeadLetter', setting: 'exchange', of: 'queue', becomes: 'x-dead-letter-exchange', accepts: text },
  { decorator: 'DeadLetter', setting: 'routingKey', of: 'queue', becomes: 'x-dead-letter-routing-key', accepts: text },
  {
    decorator: 'DeadLetter',
    setting: 'strategy',
    of: 'queue',
    becomes: 'x-dead-letter-strategy',
    accepts: oneOf('at-most-once', 'at-least-once'),
  },
  { decorator: 'Quorum', setting: 'type', of: 'queue', becomes: 'x-queue-type', accepts: oneOf('quorum') },
  { decorator: 'Quorum', setting: 'deliveryLimit', of: 'queue', becomes: 'x-delivery-limit', accepts: whole(0, any) },
  { decorator: 'MaxPriority', setting: 'value', of: 'queue', becomes: 'x-max-priority', accepts: whole(1, 255) },
  {
    decorator: 'SingleActiveConsumer',
    setting: 'value',
    of: 'queue',
    becomes: 'x-single-active-consumer',
    accepts: flag,
  },
  { decorator: 'Prefetch', setting: 'value', of: 'consumer', becomes: 'prefetch', accepts: whole(0, 65_535) },
  { decorator: 'ConsumerPriority', setting: 'value', of: 'consumer', becomes: 'priority', accepts: whole(-any, any) },
];

function overflow(): Accepts {
  return oneOf('drop-head', 'reject-publish', 'reject-publish-dlx');
}
