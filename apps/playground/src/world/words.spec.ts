import { expect, it } from 'vitest';
import type { Command } from './command.js';
import { wordsOf } from './words.js';

const table = { 'x-dead-letter-exchange': 'dlx', 'x-max-length': 3, 'x-overflow': 'reject-publish' };

it.each<[Command, ReturnType<typeof wordsOf>]>([
  [
    { do: 'publish', exchange: 'orders', key: 'eu', body: "it's", expiration: '5000', cc: ['a', 'b'] },
    {
      amqplib: `channel.publish('orders', 'eu', Buffer.from('it\\'s'), { persistent: true, expiration: '5000', CC: ['a', 'b'] })`,
      library: `client.emit('eu', new DlxRecordBuilder('it\\'s').setExchange('orders').setExpiration(5000).setCc('a', 'b').build())`,
    },
  ],
  [
    { do: 'declare-queue', queue: { name: 'work', arguments: table } },
    {
      amqplib: `channel.assertQueue('work', { arguments: { 'x-dead-letter-exchange': 'dlx', 'x-max-length': 3, 'x-overflow': 'reject-publish' } })`,
      library: `@Consume({ queue: 'work' }) @DeadLetter('dlx') @MaxLength(3, { overflow: 'reject-publish' })`,
    },
  ],
  [
    { do: 'policy', policy: { name: 'p', pattern: '.*', definition: { 'max-length': 1 } } },
    {
      rabbitmqctl: `rabbitmqctl set_policy p '.*' '{"max-length":1}' --apply-to all --priority 0`,
      library: `broker.virtualHost('/').setPolicy('p', { pattern: '.*', applyTo: 'all', priority: 0, definition: { 'max-length': 1 } })`,
    },
  ],
  [
    { do: 'nack', consumer: 'c', requeue: true },
    { amqplib: 'channel.nack(message, false, true)', library: 'context.requeue()' },
  ],
])('%j in words', (command, words) => {
  expect(wordsOf(command)).toEqual(words);
});
