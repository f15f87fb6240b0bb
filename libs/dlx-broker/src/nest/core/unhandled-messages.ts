import type { BackendDelivery } from '../../backends/index.js';
import { doNothing, shownText } from '../../platform/index.js';
import type { ReplyPublishers } from '../client/reply-publisher.js';
import { NO_MESSAGE_HANDLER } from '../handlers/nest-versions.js';
import type { EventLog } from '../log/event-log.js';
import type { DlxContext } from './context.js';
import { errorFacts, mostCharacters, textOf } from './failure-log.js';
import type { Arrival } from './handler.js';
import type { ConsumerPlan } from './plan.js';
import type { Settlement } from './settlement.js';

/** No handler of a queue is for the pattern of a message. */
class UnknownPatternError extends Error {
  override readonly name = 'UnknownPatternError';
}

/** Refuses the messages of a queue that none of its handlers can take. */
export class UnhandledMessages {
  constructor(
    private readonly settlement: Settlement,
    private readonly log: EventLog,
    private readonly publishers: ReplyPublishers,
  ) {}

  /** No handler is for the message. The client of a request in a packet gets the error of Nest's own server. */
  unknown(arrival: Arrival, context: DlxContext, plan: ConsumerPlan): void {
    const { delivery, opened } = arrival;
    this.settlement.reports.counts.unknownPattern++;
    const { queue } = delivery;
    const pattern = context.getPattern();
    const error = new UnknownPatternError(`no handler of queue '${queue}' is for the pattern '${pattern}'`);
    const text = `${shownText(error.message, mostCharacters)}; the message is refused`;
    this.log.write('unknownPattern', text, { queue: shownText(queue), pattern: shownText(pattern, mostCharacters) });
    if (opened === undefined) plan.reader?.unhandled?.(delivery, originsOf(plan));
    else this.publishers.for(arrival, undefined)?.error(NO_MESSAGE_HANDLER, doNothing);
    this.settlement.refuse(delivery, error, plan);
  }

  /** The message cannot be read. It is not requeued, because it would return for ever. */
  unreadable(delivery: BackendDelivery, error: unknown, plan: ConsumerPlan): void {
    this.settlement.reports.counts.undecodable++;
    const queue = shownText(delivery.queue);
    const text = `queue '${queue}': ${textOf(error)}; the message is refused`;
    this.log.write('unreadable', text, { queue, ...errorFacts(error) });
    try {
      this.settlement.refuse(delivery, error, plan);
    } catch (failure) {
      const notRefused = `queue '${queue}': a message cannot be refused: ${textOf(failure)}`;
      this.log.write('unrefused', notRefused, { queue, ...errorFacts(failure) });
    }
  }
}

const originsOf = ({ handlers }: ConsumerPlan): readonly string[] => handlers.map(({ handler }) => handler.origin);
