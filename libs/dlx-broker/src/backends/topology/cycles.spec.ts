import { describe, expect, it } from 'vitest';
import { DlxConfigurationError } from '../../platform/options/index.js';
import { refuseDroppingCycles } from './dead-letter-paths.js';
import { fieldTableOf } from './declared-parts.js';
import type { BindingDeclaration, ExchangeDeclaration, QueueDeclaration } from './topology.js';

const flags = { durable: true, exclusive: false, autoDelete: false, internal: false };
const queue = (name: string, args: Readonly<Record<string, unknown>> = {}): QueueDeclaration => ({
  ...flags,
  name,
  arguments: fieldTableOf(args, 'test'),
  origin: `@Queue on Orders.${name}`,
});
const expiring = (name: string, exchange: string, routingKey?: string): QueueDeclaration =>
  queue(name, {
    'x-message-ttl': 1_000,
    'x-dead-letter-exchange': exchange,
    ...(routingKey !== undefined && { 'x-dead-letter-routing-key': routingKey }),
  });
const exchange = (name: string, type: string): ExchangeDeclaration => ({ ...flags, name, type, arguments: new Map() });
const bind = (source: string, routingKey: string, destination: string, to: 'queue' | 'exchange' = 'queue') =>
  ({ source, routingKey, destination, destinationType: to, arguments: new Map() }) satisfies BindingDeclaration;

const check =
  (
    queues: readonly QueueDeclaration[],
    bindings: readonly BindingDeclaration[] = [],
    exchanges: readonly ExchangeDeclaration[] = [],
  ) =>
  () =>
    refuseDroppingCycles({ queues, bindings, exchanges }, new Set(['work']));

describe('queues in a cycle of times to live, which the broker cuts (rule I2), are refused:', () => {
  it.each([
    ['a work queue and its wait queue', check([expiring('work', '', 'wait'), expiring('wait', '', 'work')])],
    ['a queue that leads to itself', check([expiring('work', '')])],
    [
      'by a topic exchange, with the key a message came with',
      check([expiring('work', 'dlx')], [bind('dlx', 'order.*', 'work')], [exchange('dlx', 'topic')]),
    ],
    [
      'by exchanges bound to one another',
      check(
        [expiring('work', 'amq.fanout')],
        [bind('amq.fanout', '', 'back', 'exchange'), bind('back', 'work', 'work')],
        [exchange('back', 'direct')],
      ),
    ],
    [
      'that begins behind another queue',
      check([expiring('work', '', 'a'), expiring('a', '', 'b'), expiring('b', '', 'a')]),
    ],
  ])('%s', (_, refused) => {
    expect(refused).toThrow(DlxConfigurationError);
  });

  it('naming them, who asked, and a way out', () => {
    expect(check([expiring('work', '', 'wait'), expiring('wait', '', 'work')])).toThrow(
      /^@Queue on Orders\.work: messages expire from 'work' to 'wait' to 'work' in a cycle, .* \(rule I2\); take the time/,
    );
  });
});

describe('not refused is a cycle', () => {
  it.each([
    [
      'that only a reject closes',
      check([queue('work', { 'x-dead-letter-exchange': '' }), expiring('wait', '', 'work')]),
    ],
    ['whose keys do not fit', check([expiring('work', 'amq.direct', 'x')], [bind('amq.direct', 'y', 'work')])],
    ['that ends', check([expiring('work', '', 'wait'), expiring('wait', '', 'dead'), queue('dead')])],
    ['no consumer is part of', check([expiring('wait', '', 'wait'), queue('work')])],
    ['of which a part is unknown', check([expiring('work', 'elsewhere'), expiring('wait', 'amq.headers')])],
  ])('%s', (_, allowed) => {
    expect(allowed).not.toThrow();
  });
});
