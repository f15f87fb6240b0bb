import { type AmqpChannel, type AmqpConnection, loadRabbitMq } from '../../backend/index.js';
import { SystemClock } from '../../host/index.js';
import { Refusal } from '../refusal.js';
import { delayQueueArguments, delayQueueFor, exchangeFor, withDelay } from './names.js';
import { MoveFailure, type Moving, type Source, type Taken, type Target } from './ends.js';
import { type ServerPlace, shownPlace } from './places.js';

/** The AMQP client. It is read when a move needs a server. */
type Client = Awaited<ReturnType<typeof loadRabbitMq>>;

/** `basic.get`s that are sent without waiting for the answers before. */
const pipelined = 32;

type Callback<T> = (...answer: readonly [failure?: Error | undefined, value?: T | undefined]) => void;

/** What a method of the client answers, as a promise. */
const answered = <T = void>(ask: (answer: Callback<T>) => void): Promise<T> =>
  new Promise((resolve, reject) => ask((failure, value) => (failure ? reject(failure) : resolve(value as T))));

/** @throws Refusal when the server cannot be reached, or refuses the login */
function connected(
  { ConnectionFailedError, dial, openConnection }: Client,
  { host, port, isSecure, user, password, vhost }: ServerPlace,
): Promise<AmqpConnection> {
  const place = `${host}:${port}`;
  const transport = dial({ host, port, ...(isSecure && { tls: {} }) });
  const runtime = { clock: new SystemClock(), later: (act: () => void) => void setImmediate(act) };
  const options = { place, credentials: { user, password }, virtualHost: vhost, name: 'dlx-broker move' };
  return new Promise((resolve, reject) => {
    const connection = openConnection(options, transport, runtime, {
      opened: () => resolve(connection),
      closed: (failure) => reject(failure instanceof ConnectionFailedError ? new Refusal(failure.message) : failure),
      fault: (error) => reject(error as Error),
    });
  });
}

interface OpenedServer {
  readonly client: Client;
  readonly connection: AmqpConnection;
  readonly channel: AmqpChannel;
}

/** Connects, and checks that the queue exists. @throws Refusal */
async function opened(place: ServerPlace): Promise<OpenedServer> {
  const client = await loadRabbitMq();
  const connection = await connected(client, place);
  const channel = connection.openChannel({ closed: () => undefined });
  try {
    await answered<unknown>((answer) => channel.checkQueue(place.queue, answer));
    return { client, connection, channel };
  } catch (error) {
    connection.close();
    throw new Refusal(`${shownPlace(place)} cannot be used: ${(error as Error).message}`);
  }
}

/** Takes messages out of a queue of a server. @throws Refusal */
export async function serverSource(place: ServerPlace): Promise<Source> {
  const { connection, channel } = await opened(place);
  const asked: Promise<Taken | undefined>[] = [];
  const ask = async (): Promise<Taken | undefined> => {
    try {
      const got = await answered<Parameters<Parameters<AmqpChannel['get']>[2]>[1]>((answer) =>
        channel.get(place.queue, {}, answer),
      );
      if (got === undefined) return undefined;
      const { routingKey, properties, body, redelivered, deliveryTag } = got;
      return {
        routingKey,
        properties,
        body,
        redelivered,
        ack: () => channel.ack(deliveryTag),
        giveBack: () => channel.nack(deliveryTag, { requeue: true }),
      };
    } catch (error) {
      throw new MoveFailure('lost', `${shownPlace(place)}: ${(error as Error).message}`, { cause: error });
    }
  };
  return {
    next: async () => {
      while (asked.length < pipelined) {
        const answer = ask();
        answer.catch(() => undefined); // it is looked at later
        asked.push(answer);
      }
      return asked.shift();
    },
    close: async () => {
      for (const each of asked) (await each.catch(() => undefined))?.giveBack();
      try {
        // The acks before it are done when the server answers.
        await answered((done) => channel.close(done));
      } catch (error) {
        const text = `${shownPlace(place)}: the last acks may be lost (${(error as Error).message})`;
        throw new MoveFailure('lost', text, { cause: error });
      } finally {
        connection.close();
      }
    },
  };
}

/** Sends messages to a queue of a server. @throws Refusal */
export async function serverTarget(place: ServerPlace, note: (line: string) => void): Promise<Target> {
  const { client, connection, channel } = await opened(place);
  const exchange = exchangeFor(place.queue);
  const publisher = client.openPublisher(connection, { closed: () => undefined });
  try {
    await answered((done) => channel.declareExchange(exchange, 'fanout', { durable: false }, done));
    await answered((done) => channel.bindQueue(place.queue, exchange, '', undefined, done));
  } catch (error) {
    connection.close();
    throw new Refusal(`${shownPlace(place)} cannot be bound to exchange '${exchange}': ${(error as Error).message}`);
  }
  const send = async (to: string, key: string, { properties, body }: Moving): Promise<void> => {
    try {
      await answered((done) => publisher.publish(to, key, properties, body, true, done));
    } catch (error) {
      throw failureOf(client, error as Error, place);
    }
  };
  let delayQueue: Promise<string> | undefined;
  const declareDelayQueue = async (): Promise<string> => {
    const name = delayQueueFor(place.queue);
    const options = { durable: true, arguments: delayQueueArguments(place.queue) };
    try {
      await answered<unknown>((answer) => channel.declareQueue(name, options, answer));
    } catch (error) {
      throw failureOf(client, error as Error, place);
    }
    note(`delayed messages wait in queue '${name}'; delete it when it is empty`);
    return name;
  };
  return {
    publish: (message) => send(exchange, message.routingKey, message),
    publishLater: async (message, delay) =>
      send('', await (delayQueue ??= declareDelayQueue()), withDelay(message, delay)),
    close: async () => {
      await answered((done) => publisher.close(done)).catch(() => undefined);
      await answered((done) => channel.deleteExchange(exchange, {}, done)).catch(() => undefined);
      connection.close();
    },
  };
}

function failureOf(client: Client, error: Error, place: ServerPlace): MoveFailure {
  const { ChannelClosedError, NackedError, ReturnedError, UnsendableError } = client;
  const where = shownPlace(place);
  const options = { cause: error };
  if (error instanceof NackedError)
    return new MoveFailure('refused', `${where} refuses messages: it is full, or has no leader`, options);
  if (error instanceof ReturnedError) return new MoveFailure('impossible', `${where} is gone: ${error.text}`, options);
  if (error instanceof UnsendableError) return new MoveFailure('impossible', `${where}: ${error.message}`, options);
  if (error instanceof ChannelClosedError && /user_id/.test(error.text)) {
    const text = `${where}: ${error.text}. Give user '${place.user}' the tag impersonator`;
    return new MoveFailure('lost', text, options);
  }
  return new MoveFailure('lost', `${where}: ${error.message}`, options);
}
