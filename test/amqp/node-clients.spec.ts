import { AMQPClient } from '@cloudamqp/amqp-client';
import amqplib from 'amqplib';
import { Connection } from 'rabbitmq-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AmqpHouse, amqpHouse, until } from './harness.js';

let harness: AmqpHouse;
beforeEach(async () => void (harness = await amqpHouse()));
afterEach(() => harness.close());

const deadLettering = { 'x-dead-letter-exchange': 'dlx', 'x-dead-letter-routing-key': 'dead' };

describe('amqplib', () => {
  it('publishes, consumes, rejects, and finds the dead letter with its history (rule H5)', async () => {
    const connection = await amqplib.connect(harness.url);
    const channel = await connection.createConfirmChannel();
    await channel.assertExchange('dlx', 'topic');
    await channel.assertQueue('dead');
    await channel.bindQueue('dead', 'dlx', '#');
    await channel.assertQueue('work', { arguments: deadLettering });
    const headers = { text: 'é', whole: 1, long: 2 ** 40, half: 0.5, yes: true, list: [1, 'a'], nested: { a: null } };
    channel.sendToQueue('work', Buffer.from('one'), { headers, persistent: true, messageId: 'm1', timestamp: 5 });
    await channel.waitForConfirms();
    await channel.consume('work', (message) => message && channel.nack(message, false, false));
    let dead: amqplib.GetMessage | false = false;
    while (dead === false) dead = await channel.get('dead', { noAck: true });
    expect(dead.content.toString()).toBe('one');
    expect(dead.fields).toMatchObject({ exchange: 'dlx', routingKey: 'dead', redelivered: false });
    const { 'x-death': deaths, ...others } = dead.properties.headers ?? {};
    expect(others).toEqual({
      ...headers,
      'x-first-death-exchange': '',
      'x-first-death-queue': 'work',
      'x-first-death-reason': 'rejected',
    });
    expect(deaths).toMatchObject([
      { count: 1, reason: 'rejected', queue: 'work', exchange: '', 'routing-keys': ['work'] },
    ]);
    await connection.close();
  });

  it('gets a multiple ack for a burst (rule K3)', async () => {
    const connection = await amqplib.connect(harness.url);
    const channel = await connection.createConfirmChannel();
    const acks: boolean[] = [];
    channel.on('ack', ({ multiple }: { multiple: boolean }) => acks.push(multiple));
    for (let count = 0; count < 640; count++) channel.publish('amq.fanout', '', Buffer.from('x'));
    await channel.waitForConfirms();
    expect(acks).toContain(true);
    await connection.close();
  });

  it('sees a return before its ack (rule K4)', async () => {
    const connection = await amqplib.connect(harness.url);
    const channel = await connection.createConfirmChannel();
    const log: string[] = [];
    channel.on('return', ({ content }: amqplib.Message) => log.push(`return ${content.toString()}`));
    channel.publish('', 'nobody', Buffer.from('1'), { mandatory: true }, () => log.push('ack 1'));
    channel.publish('', 'nobody', Buffer.from('2'), { mandatory: true }, () => log.push('ack 2'));
    await channel.waitForConfirms();
    expect(log).toEqual(['return 1', 'ack 1', 'return 2', 'ack 2']);
    await connection.close();
  });

  it('learns why a channel was closed, and goes on with another (rule Q9)', async () => {
    const connection = await amqplib.connect(harness.url);
    const channel = await connection.createChannel();
    channel.on('error', () => undefined);
    await expect(channel.checkQueue('missing')).rejects.toThrow(
      `404 (NOT-FOUND) with message "NOT_FOUND - no queue 'missing' in vhost '/'"`,
    );
    await expect((await connection.createChannel()).assertQueue('there')).resolves.toMatchObject({ queue: 'there' });
    await connection.close();
  });

  it('gets large bodies in frames of its own size, empty ones in none (rule T6)', async () => {
    const connection = await amqplib.connect(`${harness.url}?frameMax=4096`);
    const channel = await connection.createChannel();
    await channel.assertQueue('q');
    const bodies = [0, 1, 4088, 4089, 1_000_000].map((size) => Buffer.alloc(size, 'abcdefghi'));
    for (const body of bodies) channel.sendToQueue('q', body);
    for (const body of bodies) {
      const got = await channel.get('q', { noAck: true });
      expect(got && got.content.equals(body)).toBe(true);
    }
    await connection.close();
  });

  it('learns of the end by 320, which it takes as an orderly one', async () => {
    const connection = await amqplib.connect(harness.url);
    const errors: unknown[] = [];
    connection.on('error', (error) => errors.push(error));
    const closed = new Promise<Error>((resolve) => connection.on('close', resolve));
    await harness.listener.close();
    expect((await closed).message).toContain(
      "CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'",
    );
    expect(errors).toEqual([]);
  });
});

describe('rabbitmq-client', () => {
  it('publishes with confirms, consumes, and asks by direct reply-to', async () => {
    const connection = new Connection(harness.url);
    const received: string[] = [];
    const consumer = connection.createConsumer(
      { queue: 'q', queueOptions: { durable: true }, qos: { prefetchCount: 10 } },
      async (message, reply) => {
        received.push(message.body as string);
        if (message.replyTo !== undefined) await reply(`answer to ${String(message.body)}`);
      },
    );
    await new Promise((resolve) => consumer.once('ready', resolve));
    const publisher = connection.createPublisher({ confirm: true });
    for (let count = 0; count < 100; count++) await publisher.send('q', `message ${count}`);
    const client = connection.createRPCClient({ confirm: true });
    expect((await client.send('q', 'question')).body).toBe('answer to question');
    await until(() => received.length === 101);
    await client.close();
    await publisher.close();
    await consumer.close();
    await connection.close();
  });
});

describe('@cloudamqp/amqp-client', () => {
  it('publishes, subscribes and binds exchanges', async () => {
    const connection = await new AMQPClient(harness.url).connect();
    const channel = await connection.channel();
    await channel.exchangeDeclare('from', 'headers');
    await channel.exchangeDeclare('to', 'fanout');
    await channel.exchangeBind('to', 'from', '', { 'x-match': 'any', colour: 'red' });
    const { name } = await channel.queueDeclare('');
    await channel.queueBind(name, 'to', '');
    await channel.confirmSelect();
    const received: (string | null)[] = [];
    const consumer = await channel.basicConsume(name, { noAck: true }, (message) => {
      received.push(message.bodyString());
    });
    await channel.basicPublish('from', '', 'lost', { headers: { colour: 'blue' } });
    await channel.basicPublish('from', '', 'kept', { headers: { colour: 'red' } });
    await until(() => received.length > 0);
    await channel.basicCancel(consumer.tag);
    expect(received).toEqual(['kept']);
    await connection.close();
  });

  it('updates its secret, recovers, and works in transactions (rule K8)', async () => {
    const connection = await new AMQPClient(harness.url).connect();
    await connection.updateSecret('new', 'old one expires');
    const channel = await connection.channel();
    await channel.queueDeclare('q');
    await channel.txSelect();
    await channel.basicPublish('', 'q', 'forgotten');
    await channel.txRollback();
    await channel.basicPublish('', 'q', 'kept');
    await channel.txCommit();
    expect((await channel.basicGet('q', { noAck: false }))?.bodyString()).toBe('kept');
    await channel.basicRecover(true);
    expect((await channel.basicGet('q', { noAck: true }))?.redelivered).toBe(true);
    await connection.close();
  });
});
