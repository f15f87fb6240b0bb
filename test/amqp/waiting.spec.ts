import amqplib from 'amqplib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AmqpHouse, amqpHouse } from './house.js';

let house: AmqpHouse;
beforeEach(async () => void (house = await amqpHouse()));
afterEach(() => house.close());

describe('while more is on its way out than leaves in a turn', () => {
  it('clients whose methods wait for it do not wait for one another', async () => {
    const connection = await amqplib.connect(house.url);
    const channel = await connection.createChannel();
    await channel.assertExchange('f', 'fanout');
    for (let index = 0; index < 100; index++) {
      const { queue } = await channel.assertQueue('');
      await channel.bindQueue(queue, 'f', '');
      await channel.consume(queue, () => undefined, { noAck: true });
    }
    const others = await Promise.all([1, 2].map(() => amqplib.connect(house.url)));
    const channels = await Promise.all(others.map((other) => other.createChannel()));
    for (let round = 0; round < 5; round++) {
      for (let count = 0; count < 100; count++) channel.publish('f', '', Buffer.from('x'));
      const answers = await Promise.all(channels.map((other) => other.assertQueue('one')));
      expect(answers).toMatchObject([{ queue: 'one' }, { queue: 'one' }]);
    }
    for (const other of [connection, ...others]) await other.close();
  });

  it('no delivery comes behind cancel-ok', async () => {
    const connection = await amqplib.connect(house.url);
    const channel = await connection.createChannel();
    const publisher = await (await amqplib.connect(house.url)).createChannel();
    await channel.assertQueue('q');
    for (let round = 0; round < 20; round++) {
      let isCancelled = false;
      const late: unknown[] = [];
      const { consumerTag } = await channel.consume('q', (message) => isCancelled && late.push(message), {
        noAck: true,
      });
      for (let count = 0; count < 2_000; count++) publisher.sendToQueue('q', Buffer.from('x'));
      await channel.cancel(consumerTag).then(() => (isCancelled = true));
      await channel.checkQueue('q');
      expect(late).toEqual([]);
    }
    await connection.close();
  });
});
