import type { Channel } from 'amqplib';

export const exchange = 'tasks';
/** The routing keys of messages, and the queues to which they go. */
export const keys = ['work.plain', 'work.retried', 'work.ranked', 'work.counted'] as const;
export const dead = 'dead';
export const waiting = 'wait';
export const parked = 'parked';
/** Takes the publishes that make acks safe. */
export const marks = 'marks';
/** A transient exchange: a start of the server removes it. */
export const news = 'news';
/** Every queue with numbered messages. */
export const numbered: readonly string[] = [...keys, dead, waiting, parked];
/** The queues that the policy is for. A retried message would end in a cycle without a rejection, and be dropped (rule I2). */
export const policyPattern = '^work\\.(plain|ranked|counted)$';

/**
 * Four work queues: rejected messages of one come back after two seconds, those of the others wait for a redrive; one has priorities,
 * and one is a quorum queue that counts failures.
 */
export async function declare(channel: Channel): Promise<void> {
  const toDead = { deadLetterExchange: '', deadLetterRoutingKey: dead };
  await channel.assertExchange(exchange, 'topic', { durable: true });
  await channel.assertQueue(dead, { durable: true });
  await channel.assertQueue(parked, { durable: true });
  await channel.assertQueue(marks, { durable: true, maxLength: 10 });
  await channel.assertQueue('work.plain', { durable: true, ...toDead });
  await channel.assertQueue('work.ranked', { durable: true, ...toDead, maxPriority: 5 });
  await channel.assertQueue('work.counted', {
    durable: true,
    ...toDead,
    arguments: { 'x-queue-type': 'quorum', 'x-delivery-limit': 5 },
  });
  await channel.assertQueue('work.retried', { durable: true, deadLetterExchange: '', deadLetterRoutingKey: waiting });
  await channel.assertQueue(waiting, {
    durable: true,
    messageTtl: 2_000,
    deadLetterExchange: exchange,
    deadLetterRoutingKey: 'work.retried',
  });
  for (const key of keys) await channel.bindQueue(key, exchange, key);
}
