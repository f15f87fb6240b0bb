import { DlxConfigurationError, optionsOf } from '../../../platform/options/index.js';
import { isText } from '../../module/check-options.js';
import { anEnvelope, type Envelope } from '../../decorators/envelope.js';

/** The queue or the exchange of the messages of one client. */
export interface ClientTarget {
  /** The queue that gets all messages, by the default exchange, as with `queue` of Nest's `ClientRMQ`. For packets only. */
  readonly queue?: string;
  /** The exchange of events and requests; the pattern is the routing key, as with `wildcards` and `exchange` of `ClientRMQ`. */
  readonly exchange?: string;
  /** What the bodies are. Default: as for the other messages of the client. */
  readonly envelope?: Envelope;
}

const origin = 'to() of DlxClient';

/** How a message without a packet is sent to a queue itself. */
const toQueue = (queue: string): string =>
  `to send to queue '${queue}' directly, write emit('${queue}', new DlxRecordBuilder(data).setExchange('').build())`;

const known = ['queue', 'exchange', 'envelope'] as const;
const remedy = "write { queue: 'orders', envelope: 'nest' }";

/** @param packets true if the client that is asked writes packets @throws DlxConfigurationError */
export function checkTarget(target: ClientTarget, packets: boolean): ClientTarget {
  const { queue, exchange, envelope } = optionsOf<ClientTarget>(target, origin, remedy, known);
  if (queue !== undefined) isText(queue, `queue of ${origin}`);
  if (exchange === '') {
    throw new DlxConfigurationError(`exchange of ${origin}: '' is the default exchange; ${toQueue('orders')}`);
  }
  if (exchange !== undefined) isText(exchange, `exchange of ${origin}`);
  if (envelope !== undefined) anEnvelope.read(envelope, `envelope of ${origin}`);
  if ((queue === undefined) === (exchange === undefined)) {
    throw new DlxConfigurationError(`${origin}: write either a queue or an exchange`);
  }
  if (queue !== undefined && envelope !== 'nest' && !(envelope === undefined && packets)) {
    throw new DlxConfigurationError(
      `${origin}: without a packet the pattern would be lost on the way to queue '${queue}', whose name is the routing key; ` +
        `write envelope: 'nest', or an exchange to which the queue is bound; ${toQueue(queue)}`,
    );
  }
  return target;
}
