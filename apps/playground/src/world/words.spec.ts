import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import type { Command } from './command.js';
import { code, wordsOf } from './words.js';

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

const hostile = [
  `'; $(touch x) \`y\` "!! \\' \\`,
  'a\nb',
  '<script>',
  '\u0003\u001b[201~\rls\n',
  "\u009b'\\u0041",
  '\u202ea\u2066',
  '__proto__',
  '"__proto__',
  '',
];

it.each(hostile)('%j is safe in a shell, in a program and in a spec', (name) => {
  const lines = wordsOf({ do: 'delete-queue', queue: name });
  const script = `rabbitmqctl() { printf '%s\\0' "$@"; }; ${lines.rabbitmqctl}`;
  const environment = { ...process.env, LC_ALL: 'C.UTF-8' };
  expect(execFileSync('bash', ['-c', script], { env: environment }).toString()).toBe(`delete_queue\0${name}\0`);
  const queue = { name, arguments: { [name]: { [name]: name } } };
  const given: unknown[] = [];
  const channel = { assertQueue: (...values: readonly unknown[]) => given.push(...values) };
  const { amqplib = '' } = wordsOf({ do: 'declare-queue', queue });
  new Function('channel', amqplib)(channel);
  expect(JSON.stringify(given)).toBe(JSON.stringify([name, { arguments: queue.arguments }]));
  expect(JSON.stringify(new Function(`return ${code(queue)}`)())).toBe(JSON.stringify(queue));
  expect(`${lines.rabbitmqctl}${amqplib}${code(queue)}`).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
});

it('takes no name for an option', () => {
  const { rabbitmqctl } = wordsOf({ do: 'policy', policy: { name: '--node=a@b', pattern: '', definition: {} } });
  expect(rabbitmqctl).toBe("rabbitmqctl set_policy --apply-to all --priority 0 -- '--node=a@b' '' '{}'");
  expect(wordsOf({ do: 'purge', queue: '-q' }).rabbitmqctl).toBe('rabbitmqctl purge_queue -- -q');
});
