import { describe, expect, it } from 'vitest';
import { knownArguments, misspeltArguments } from './misspelt-arguments.js';

/** What is found about a queue and an exchange with these arguments. */
function found(queue: readonly string[], exchange: readonly string[] = []): readonly string[] {
  const tableOf = (names: readonly string[]) => new Map(names.map((name) => [name, { type: 'S', value: '' } as const]));
  const common = { durable: true, autoDelete: false };
  const topology = {
    queues: [{ ...common, name: 'q', exclusive: false, arguments: tableOf(queue) }],
    exchanges: [{ ...common, name: 'x', type: 'topic', internal: false, arguments: tableOf(exchange) }],
    bindings: [],
  };
  return misspeltArguments(topology).map(({ kind, argument, meant }) => `${kind}: ${argument} for ${meant}`);
}

describe('an argument', () => {
  it.each([
    ['x-mesage-ttl', 'x-message-ttl'],
    ['message-ttl', 'x-message-ttl'],
    ['X-Message-TTL', 'x-message-ttl'],
    ['x-dead-letter-exhange', 'x-dead-letter-exchange'],
    ['dead-letter-routing-key', 'x-dead-letter-routing-key'],
    ['x-maxlength', 'x-max-length'],
    ['x-max-len', 'x-max-length'],
    ['x-queue-tpye', 'x-queue-type'],
    ['x-expire', 'x-expires'],
  ])('%s of a queue stands for %s', (argument, meant) => {
    expect(found([argument])).toEqual([`queue: ${argument} for ${meant}`]);
  });

  it('of an exchange, too', () => {
    expect(found([], ['alternate-exchang', 'x-delayed-typ'])).toEqual([
      'exchange: alternate-exchang for alternate-exchange',
      'exchange: x-delayed-typ for x-delayed-type',
    ]);
  });

  it('that is known, or like none that is, stands for itself', () => {
    const own = ['x-owner', 'tenant', 'x-my-plugin', 'x-retry-count', ''];
    expect(found([...knownArguments.queue, ...own], [...knownArguments.exchange, ...own])).toEqual([]);
  });
});
