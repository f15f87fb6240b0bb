import amqplib from 'amqplib/callback_api';
import type { AmqpChannel, AmqpConnection, ConfirmPublisher } from '../../libs/dlx-broker/src/amqp/client/api.js';
import { openConnection } from '../../libs/dlx-broker/src/amqp/client/connection.js';
import { dial } from '../../libs/dlx-broker/src/amqp/client/dial.js';
import { openPublisher } from '../../libs/dlx-broker/src/amqp/client/publisher.js';
import type { Transport } from '../../libs/dlx-broker/src/amqp/client/transport.js';
import { SystemClock } from '../../libs/dlx-broker/src/platform/index.js';
import { longstr } from '../../libs/dlx-broker/src/engine/message/index.js';

/** One client with a connection, and a queue of its own. */
export interface BenchClient {
  readonly name: string;
  /** Publishes a persistent, mandatory message with one header. @param done called when it is confirmed */
  publish(done: () => void): void;
  /** Consumes all messages of the queue. @param onMessage called for each message, which is then acked */
  consume(prefetch: number, onMessage: () => void): void;
  close(): void;
}

const body = Buffer.alloc(1_024, 'x');

const failed = (error: unknown): void => {
  if (error !== undefined && error !== null) throw error;
};

/** A connection of the client of this library, with its channels and a queue. */
export interface OwnClient {
  readonly connection: AmqpConnection;
  readonly publisher: ConfirmPublisher;
  readonly channel: AmqpChannel;
  readonly queue: string;
}

/**
 * @param queue a durable queue; default an exclusive queue with a name by the server
 * @param transport default a socket to the server of the URL
 */
export function connectOwn(url: URL, queue = '', transport?: Transport): Promise<OwnClient> {
  const credentials = { user: url.username, password: url.password };
  const address = { host: url.hostname, port: Number(url.port) || 5672 };
  const runtime = { clock: new SystemClock(), later: (act: () => void) => void setImmediate(act) };
  const login = { place: url.host, virtualHost: decodeURIComponent(url.pathname.slice(1)) || '/', credentials };
  return new Promise((resolve) => {
    const connection = openConnection(login, transport ?? dial(address), runtime, {
      opened: () => {
        const publisher = openPublisher(connection, { closed: failed });
        const channel = connection.openChannel({ closed: failed });
        const options = queue === '' ? { exclusive: true } : { durable: true };
        channel.declareQueue(queue, options, (failure, declared) => {
          if (failure !== undefined) throw failure;
          resolve({ connection, publisher, channel, queue: declared.queue });
        });
      },
      closed: failed,
      fault: failed,
    });
  });
}

/** The client of this library. */
export async function own(url: URL): Promise<BenchClient> {
  const { connection, publisher, channel, queue } = await connectOwn(url);
  const properties = { deliveryMode: 2, headers: new Map([['h', longstr('v')]]) };
  return {
    name: 'own',
    publish: (done) =>
      publisher.publish('', queue, properties, body, true, (error) => {
        failed(error);
        done();
      }),
    consume: (prefetch, onMessage) => {
      channel.qos(prefetch, failed);
      const delivered = ({ deliveryTag }: { readonly deliveryTag: number }): void => {
        channel.ack(deliveryTag);
        onMessage();
      };
      channel.consume(queue, {}, { delivered, cancelled: () => undefined }, (...[failure]) => failed(failure));
    },
    close: () => connection.close(),
  };
}

/** amqplib with its callbacks, which is faster than with its promises. */
export function rival(url: URL): Promise<BenchClient> {
  const options = { persistent: true, mandatory: true, headers: { h: 'v' } };
  return new Promise((resolve) => {
    amqplib.connect(url.href, { noDelay: true }, (refused, connection) => {
      failed(refused);
      connection.createConfirmChannel((error, channel) => {
        failed(error);
        channel.assertQueue('', { exclusive: true }, (fault, { queue }) => {
          failed(fault);
          resolve({
            name: 'amqplib',
            publish: (done) =>
              void channel.publish('', queue, body, options, (lost) => {
                failed(lost);
                done();
              }),
            consume: (prefetch, onMessage) => {
              channel.prefetch(prefetch);
              channel.consume(queue, (message) => {
                if (message === null) return;
                channel.ack(message);
                onMessage();
              });
            },
            close: () => connection.close(),
          });
        });
      });
    });
  });
}
