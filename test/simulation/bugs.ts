import type { Journal } from '../../libs/dlx-broker/src/engine/broker/index.js';
import type { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import { mutants } from '../durability/mutants.js';
import type { AmqpChannel, ConfirmPublisher, Done } from '../../libs/dlx-broker/src/amqp/client/api.js';
import type { openConnection } from '../../libs/dlx-broker/src/amqp/client/connection.js';
import { ReturnedError } from '../../libs/dlx-broker/src/amqp/client/errors.js';
import type { openPublisher } from '../../libs/dlx-broker/src/amqp/client/publisher.js';
import type { Properties } from '../../libs/dlx-broker/src/engine/message/index.js';

type OpenConnection = typeof openConnection;
type OpenPublisher = typeof openPublisher;

/** A bug that is put in from outside: what the backend or the broker is lent. Each replica gets its own. */
export interface Bug {
  readonly openConnection?: (open: OpenConnection) => OpenConnection;
  readonly openPublisher?: (open: OpenPublisher) => OpenPublisher;
  readonly journal?: (journal: DiskJournal) => Journal;
}

/** Bugs that such clients have had. The simulation has to find each of them. */
export const bugs: Readonly<Record<string, Bug>> = {
  'an ack lost': { openConnection: losingAcks },
  'an ack of too much': { openConnection: ackingAll },
  'a confirm taken for another': { openPublisher: exchangingConfirms },
  'a consumer not restored': { openConnection: forgettingConsumers },
  'a retry resent with a new id': { openPublisher: renaming },
  'a return ignored': { openPublisher: ignoringReturns },
  'a confirm sent before the message is durable': { journal: mutants['confirm before sync']!.journal! },
};

/** One ack in eight of a process is not sent. */
function losingAcks(open: OpenConnection): OpenConnection {
  let acks = 0;
  return withAcks(open, (ack) => (tag, multiple) => {
    if (++acks % 8 !== 0) ack(tag, multiple);
  });
}

/** Each ack settles all deliveries before it as well. */
function ackingAll(open: OpenConnection): OpenConnection {
  return withAcks(open, (ack) => (tag) => ack(tag, true));
}

type Ack = AmqpChannel['ack'];

/** Channels have another `ack`. @param other makes it of the right one */
function withAcks(open: OpenConnection, other: (ack: Ack) => Ack): OpenConnection {
  return (...given) => {
    const connection = open(...given);
    const openChannel = connection.openChannel.bind(connection);
    connection.openChannel = (events, done) => {
      const channel = openChannel(events, done);
      channel.ack = other(channel.ack.bind(channel));
      return channel;
    };
    return connection;
  };
}

/** Its `send` goes by its `publish`, which a bug has changed. */
function sendingBy(publisher: ConfirmPublisher): ConfirmPublisher {
  publisher.send = (message) => {
    const { exchange, routingKey, properties, body, mandatory } = message;
    publisher.publish(exchange, routingKey, properties, body, mandatory, (failure) => message.settled(failure));
  };
  return publisher;
}

/** Of two publishes on one channel that follow each other, each gets the outcome of the other. Messages that are returned are left out. */
function exchangingConfirms(open: OpenPublisher): OpenPublisher {
  return (connection, events, opened) => {
    const publisher = open(connection, events, opened);
    const publish = publisher.publish.bind(publisher);
    const callbacks: Done[] = [];
    publisher.publish = (exchange, key, properties, body, mandatory, done, replaced) => {
      if (key === 'nowhere' || exchange === 'missing')
        return publish(exchange, key, properties, body, mandatory, done, replaced);
      const index = callbacks.push(done) - 1;
      const called =
        (at: number): Done =>
        (failure) => {
          const callback = callbacks[at] as Done;
          callbacks[at] = () => undefined;
          callback(failure);
        };
      const other = index % 2 === 0 ? index + 1 : index - 1;
      const answered: Done = (failure) => called(callbacks[other] === undefined ? index : other)(failure);
      publish(exchange, key, properties, body, mandatory, answered, replaced);
    };
    return sendingBy(publisher);
  };
}

/** After a reconnect the first consumer of a connection is not begun again, and its answer is made up. */
function forgettingConsumers(open: OpenConnection): OpenConnection {
  let connections = 0;
  return (...given) => {
    const connection = open(...given);
    let forgets = ++connections > 1;
    const openChannel = connection.openChannel.bind(connection);
    connection.openChannel = (events, done) => {
      const channel = openChannel(events, done);
      const consume = channel.consume.bind(channel);
      channel.consume = (queue, options, consumer, answer) => {
        if (!forgets) return consume(queue, options, consumer, answer);
        forgets = false;
        answer(undefined, 'c1');
        return 'c1';
      };
      return channel;
    };
    return connection;
  };
}

/** What is published again gets another message id. */
function renaming(open: OpenPublisher): OpenPublisher {
  const sent = new Set<Properties>();
  return (connection, events, opened) => {
    const publisher = open(connection, events, opened);
    const publish = publisher.publish.bind(publisher);
    publisher.publish = (exchange, key, properties, body, mandatory, done, replaced) => {
      const isAgain = sent.has(properties);
      sent.add(properties);
      const named = isAgain ? { ...properties, messageId: `${properties.messageId} again` } : properties;
      publish(exchange, key, named, body, mandatory, done, replaced);
    };
    return sendingBy(publisher);
  };
}

/** A returned message counts as taken. */
function ignoringReturns(open: OpenPublisher): OpenPublisher {
  return (connection, events, opened) => {
    const publisher = open(connection, events, opened);
    const publish = publisher.publish.bind(publisher);
    publisher.publish = (exchange, key, properties, body, mandatory, done, replaced) =>
      publish(
        ...([exchange, key, properties, body, mandatory] as const),
        (failure) => done(failure instanceof ReturnedError ? undefined : failure),
        replaced,
      );
    return sendingBy(publisher);
  };
}
