import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelModel } from 'amqplib';
import { Client } from './client.js';
import { news } from './topology.js';

const messages = 200;

/** Comes and goes: a connection with a queue of its own, which publishes and consumes transient messages and is closed. */
export class Churn extends Client {
  arrived = 0;

  protected async open(connection: ChannelModel): Promise<void> {
    const channel = await connection.createChannel();
    channel.on('error', () => undefined);
    await channel.assertExchange(news, 'fanout', { durable: false });
    const { queue } = await channel.assertQueue('', { exclusive: true, durable: false });
    await channel.bindQueue(queue, news, '');
    await channel.consume(queue, () => void this.arrived++, { noAck: true });
    for (let count = 0; count < messages; count++) {
      channel.publish(news, '', Buffer.alloc(200));
      if (count % 20 === 0) await sleep(50);
    }
    await this.close();
  }
}
