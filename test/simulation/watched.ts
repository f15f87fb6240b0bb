import type { openPublisher } from '../../libs/dlx-broker/src/amqp/client/publisher.js';
import { attemptOf } from '../../libs/dlx-broker/src/platform/history/index.js';
import { Message } from '../../libs/dlx-broker/src/engine/message/index.js';
import type { Oracle, Seen } from './oracle.js';
import { queues } from './topology.js';

/** Tells the oracle of each message that is put on the wire. */
export const watched =
  (open: typeof openPublisher, oracle: Oracle): typeof openPublisher =>
  (connection, events, done) => {
    const publisher = open(connection, events, done);
    const publish = publisher.publish.bind(publisher);
    const send = publisher.send.bind(publisher);
    const note = (message: Message): void => oracle.sent(seenIn(message, queueFor(message.routingKey)));
    publisher.publish = (exchange, routingKey, properties, body, ...rest) => {
      note(new Message(exchange, routingKey, properties, body));
      publish(exchange, routingKey, properties, body, ...rest);
    };
    publisher.send = (message) => {
      const { exchange, routingKey, properties, body } = message;
      note(new Message(exchange, routingKey, properties, body));
      send(message);
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
