import type { openPublisher } from '../../libs/dlx-broker/src/backend/rabbitmq/client/publisher.js';
import { attemptOf } from '../../libs/dlx-broker/src/history/index.js';
import { Message } from '../../libs/dlx-broker/src/message/index.js';
import type { Oracle, Seen } from './oracle.js';
import { queues } from './topology.js';

/** Tells the oracle of each message that is put on the wire. */
export const watched =
  (open: typeof openPublisher, oracle: Oracle): typeof openPublisher =>
  (connection, events, done) => {
    const publisher = open(connection, events, done);
    const publish = publisher.publish.bind(publisher);
    publisher.publish = (exchange, routingKey, properties, body, ...rest) => {
      oracle.sent(seenIn(new Message(exchange, routingKey, properties, body), queueFor(routingKey)));
      publish(exchange, routingKey, properties, body, ...rest);
    };
    return publisher;
  };

/** The queue that a message with this routing key reaches, at once or through wait queues. */
const queueFor = (routingKey: string): string => (routingKey === 'order' ? queues.orders : routingKey);

export const seenIn = (message: Message, queue: string): Seen => ({
  id: message.properties.messageId ?? 'without id',
  queue,
  attempt: queue === queues.orders ? attemptOf(message, queue) : 1,
});
