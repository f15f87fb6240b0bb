import amqplib, { type ChannelModel, type ConfirmChannel, type ConsumeMessage } from 'amqplib';
import type { Random } from '../fuzz/random.js';
import { bodyOf, messageIdOf } from './bodies.js';
import type { Found, KillAccount } from './kill-account.js';

const queues = ['work', 'dead'] as const;
const persistent = { persistent: true, contentType: 'application/octet-stream' };

/** A client of a server that is killed, with its account. */
export class KillClient {
  readonly #account: KillAccount;
  readonly #random: Random;
  readonly #connection: ChannelModel;

  private constructor(connection: ChannelModel, account: KillAccount, random: Random) {
    this.#connection = connection;
    this.#account = account;
    this.#random = random;
    connection.on('error', () => undefined); // its server dies: that is the point
  }

  static async connect(address: string, account: KillAccount, random: Random): Promise<KillClient> {
    return new KillClient(await amqplib.connect(`amqp://${address}`), account, random);
  }

  async declare(): Promise<void> {
    const channel = await this.#connection.createChannel();
    await channel.assertQueue('dead', { durable: true });
    await channel.assertQueue('work', { durable: true, deadLetterExchange: '', deadLetterRoutingKey: 'dead' });
    await channel.close();
  }

  /** Gets all messages, checks them, and settles most of them. @returns what is wrong */
  async audit(keep: number): Promise<string[]> {
    const channel = await this.#connection.createConfirmChannel();
    const found: Found[] = [];
    for (const queue of queues) {
      const messages = await drain(channel, queue);
      found.push(...messages.map((message) => seen(queue, message)));
    }
    const wrong = this.#account.audit(found);
    const gone = found.slice(0, Math.max(0, found.length - keep));
    gone.forEach((_, index) => channel.ack({ fields: { deliveryTag: index + 1 } } as ConsumeMessage));
    if (gone.length > 0) {
      // The confirm of a later publish on the same channel: now the acks are safe, too.
      await new Promise<void>((resolve) => this.#publish(channel, () => resolve()));
      for (const { id } of gone) this.#account.forget(id);
    }
    await channel.close();
    return wrong;
  }

  /** Publishes with so many confirms outstanding, and consumes, until the connection is lost. Resolves at the first confirm. */
  async load(outstanding: number): Promise<void> {
    const channel = await this.#connection.createConfirmChannel();
    channel.on('error', () => undefined);
    let isOver = false;
    await channel.prefetch(1_000);
    await channel.consume('work', (message) => {
      if (message === null || isOver) return;
      const fate = this.#random.weighted({ ack: 60, reject: 30, keep: 5 });
      if (fate === 'keep') return;
      this.#account.settled(idOf(message), fate);
      if (fate === 'ack') channel.ack(message);
      else channel.nack(message, false, false);
    });
    await new Promise<void>((resolve) => {
      const next = (isConfirmed: boolean): void => {
        resolve();
        // All that is outstanding fails when the connection is lost.
        if (isConfirmed && !isOver) this.#publish(channel, next);
        else isOver = true;
      };
      for (let count = 0; count < outstanding; count++) this.#publish(channel, next);
    });
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  #publish(channel: ConfirmChannel, then: (isConfirmed: boolean) => void): void {
    const id = this.#account.publish();
    const messageId = messageIdOf(id, this.#random.chance(0.1) ? 3_000 : id % 200);
    channel.publish('', 'work', bodyOf(messageId), { ...persistent, messageId }, (error) => {
      if (error === null) this.#account.confirmed(id);
      then(error === null);
    });
  }
}

const idOf = ({ properties }: ConsumeMessage): number => Number.parseInt(properties.messageId as string, 10);

const seen = (queue: Found['queue'], message: ConsumeMessage): Found => ({
  queue,
  id: idOf(message),
  redelivered: message.fields.redelivered,
  bodyIsRight: bodyOf(message.properties.messageId as string).equals(message.content),
});

/** Gets all ready messages of a queue, without an ack. */
async function drain(channel: ConfirmChannel, queue: string): Promise<ConsumeMessage[]> {
  const { messageCount } = await channel.checkQueue(queue);
  const messages: ConsumeMessage[] = [];
  if (messageCount === 0) return messages;
  await new Promise<void>((resolve, reject) => {
    const take = (message: ConsumeMessage | null): void => {
      if (message === null) return reject(new TypeError(`${queue} is gone`));
      if (messages.push(message) === messageCount) resolve();
    };
    channel.consume(queue, take, { consumerTag: queue }).catch(reject);
  });
  await channel.cancel(queue);
  return messages;
}
