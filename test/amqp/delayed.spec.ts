import amqplib from 'amqplib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AmqpHouse, amqpHouse } from './harness.js';

// RabbitMQ itself has this exchange type only with its delayed-message plugin; what is asserted is what its README says.

let harness: AmqpHouse;
beforeEach(async () => void (harness = await amqpHouse()));
afterEach(() => harness.close());

const late = (type: string) => ({ durable: true, arguments: { 'x-delayed-type': type } });

describe('over AMQP, an exchange of the type x-delayed-message', () => {
  it('holds back by the header x-delay, and the shorter delay is not behind the longer one', async () => {
    const connection = await amqplib.connect(harness.url);
    const channel = await connection.createConfirmChannel();
    await channel.assertExchange('later', 'x-delayed-message', late('topic'));
    await channel.assertExchange('later', 'x-delayed-message', late('topic')); // as any other (rule P2)
    await channel.assertQueue('work');
    await channel.bindQueue('work', 'later', 'order.*');
    const came: { text: string; after: number; header: unknown; key: string }[] = [];
    const start = Date.now();
    await channel.consume(
      'work',
      (message) => {
        const { content, properties, fields } = message as amqplib.ConsumeMessage;
        const header: unknown = properties.headers?.['x-delay'];
        came.push({ text: content.toString(), after: Date.now() - start, header, key: fields.routingKey });
      },
      { noAck: true },
    );
    for (const delay of [150, 50, 100, 0]) {
      channel.publish('later', 'order.new', Buffer.from(`${delay}`), { headers: { 'x-delay': delay } });
    }
    channel.publish('later', 'order.new', Buffer.from('text'), { headers: { 'x-delay': '75' } });
    await channel.waitForConfirms();
    expect(came.length).toBeLessThan(5);
    await expect.poll(() => came.length, { timeout: 5_000, interval: 5 }).toBe(5);
    expect(came.map(({ text }) => text)).toEqual(['0', '50', 'text', '100', '150']);
    expect(came.map(({ header }) => header)).toEqual([0, -50, -75, -100, -150]);
    expect(came.every(({ key }) => key === 'order.new')).toBe(true);
    // Clocks of a machine differ by a fraction: the broker's is monotonic.
    for (const { after, header } of came) expect(after).toBeGreaterThanOrEqual(-(header as number) - 2);
    await connection.close();
  });

  it.each([
    [{}, 406, "Invalid argument, 'x-delayed-type' must be an existing exchange type"],
    [
      { 'x-delayed-type': 'x-delayed-message' },
      406,
      "Invalid argument, 'x-delayed-message' can't be used for 'x-delayed-type'",
    ],
    [{ 'x-delayed-type': 'x-none' }, 503, "unknown exchange type 'x-none'"],
  ])('is not declared with the arguments %o', async (args, code, text) => {
    const connection = await amqplib.connect(harness.url);
    const errors: string[] = [];
    const note = (error: unknown): void => void errors.push(String(error));
    connection.on('error', note); // an unknown type ends the connection, the others the channel
    const channel = await connection.createChannel();
    channel.on('error', note);
    await channel.assertExchange('later', 'x-delayed-message', { arguments: args }).catch(note);
    await expect.poll(() => errors.join('\n'), { interval: 5 }).toContain(text);
    expect(errors.join('\n')).toContain(`${code}`);
    await connection.close().catch(() => undefined);
  });
});
