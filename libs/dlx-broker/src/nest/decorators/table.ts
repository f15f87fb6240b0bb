import { queueArguments, whole, type Accepts, type WrittenArgument } from '../../topology/index.js';

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

const ofQueue = (decorator: string, setting: string, becomes: WrittenArgument): DecoratorRow => {
  return { decorator, setting, of: 'queue', becomes, accepts: queueArguments[becomes] };
};

/** Every decorator that says something about a queue or a consumer. docs/reference/decorators.md shows this table. */
export const decoratorTable: readonly DecoratorRow[] = [
  ofQueue('Ttl', 'value', 'x-message-ttl'),
  ofQueue('Expires', 'value', 'x-expires'),
  ofQueue('MaxLength', 'value', 'x-max-length'),
  ofQueue('MaxLengthBytes', 'value', 'x-max-length-bytes'),
  ofQueue('MaxLength', 'overflow', 'x-overflow'),
  ofQueue('MaxLengthBytes', 'overflow', 'x-overflow'),
  ofQueue('DeadLetter', 'exchange', 'x-dead-letter-exchange'),
  ofQueue('DeadLetter', 'routingKey', 'x-dead-letter-routing-key'),
  ofQueue('DeadLetter', 'strategy', 'x-dead-letter-strategy'),
  ofQueue('Quorum', 'type', 'x-queue-type'),
  ofQueue('Quorum', 'deliveryLimit', 'x-delivery-limit'),
  ofQueue('MaxPriority', 'value', 'x-max-priority'),
  ofQueue('SingleActiveConsumer', 'value', 'x-single-active-consumer'),
  { decorator: 'Prefetch', setting: 'value', of: 'consumer', becomes: 'prefetch', accepts: whole(0, 65_535) },
  { decorator: 'ConsumerPriority', setting: 'value', of: 'consumer', becomes: 'priority', accepts: whole(-any, any) },
];
