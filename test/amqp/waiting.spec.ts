import amqplib from 'amqplib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WireConnection } from '../contract/wire/connection.js';
import { type AmqpHouse, amqpHouse, until } from './harness.js';

let harness: AmqpHouse;
beforeEach(async () => void (harness = await amqpHouse()));
afterEach(() => harness.close());

describe('while more is on its way out than leaves in a turn', () => {
  it('clients whose methods wait for it do not wait for one another', async () => {
    const connection = await amqplib.connect(harness.url);
    const channel = await connection.createChannel();
    await channel.assertExchange('f', 'fanout');
    for (let index = 0; index < 100; index++) {
      const { queue } = await channel.assertQueue('');
      await channel.bindQueue(queue, 'f', '');
      await channel.consume(queue, () => undefined, { noAck: true });
    }
    const others = await Promise.all([1, 2].map(() => amqplib.connect(harness.url)));
    const channels = await Promise.all(others.map((other) => other.createChannel()));
    for (let round = 0; round < 5; round++) {
      for (let count = 0; count < 100; count++) channel.publish('f', '', Buffer.from('x'));
      const answers = await Promise.all(channels.map((other) => other.assertQueue('one')));
      expect(answers).toMatchObject([{ queue: 'one' }, { queue: 'one' }]);
    }
    for (const other of [connection, ...others]) await other.close();
  });

  it('a client is answered while the flood of another one waits to go on', async () => {
    const resumes: (() => void)[] = [];
    const held = await amqpHouse({}, { budget: 500, later: (resume) => void resumes.push(resume) });
    // As in production, until the flood: then its turns come only when this test says so.
    let isHeld = false;
    const turns = setInterval(() => !isHeld && resumes.splice(0).forEach((resume) => resume()), 1);
    try {
      const flooded = await (await WireConnection.open(held.wire)).openChannel();
      const other = await (await WireConnection.open(held.wire)).openChannel();
      let received = 0;
      flooded.listener = () => (received += 1);
      await flooded.call('exchange.declare', { exchange: 'f', type: 'fanout' });
      for (let index = 0; index < 100; index++) {
        await flooded.call('queue.declare', { queue: `f${index}` });
        await flooded.call('queue.bind', { queue: `f${index}`, exchange: 'f' });
        await flooded.call('basic.consume', { queue: `f${index}`, noAck: true });
      }
      isHeld = true;
      for (let count = 0; count < 100; count++) flooded.publish({ exchange: 'f' }, {}, Buffer.from('x'));
      await until(() => resumes.length > 0);
      expect((await other.call('queue.declare', { queue: 'q' })).name).toBe('queue.declare-ok');
      expect((await other.call('basic.get', { queue: 'q' })).name).toBe('basic.get-empty');
      expect((await other.call('channel.close', {})).name).toBe('channel.close-ok');
      // Its own answer is behind what it brought about, and still to come.
      const own = flooded.call('queue.declare', { queue: 'q' }).then(() => received);
      expect(received).toBeLessThan(1_000);
      isHeld = false;
      expect(await own).toBe(10_000);
      other.connection.drop();
      flooded.connection.drop();
    } finally {
      clearInterval(turns);
      await held.close();
    }
  });

  it('no delivery comes behind cancel-ok', async () => {
    const connection = await amqplib.connect(harness.url);
    const channel = await connection.createChannel();
    const publisher = await (await amqplib.connect(harness.url)).createChannel();
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
