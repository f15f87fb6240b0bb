import { describe, expect, it } from 'vitest';
import { LinkedServer } from '../../../../../test/harnesses/amqp-link.js';
import { linkedBackend } from '../../../../../test/harnesses/linked-backend.js';
import { Broker } from '../../engine/broker/index.js';
import { CountedNames } from '../../nest/testing/counted-names.js';
import { ManualClock } from '../../nest/testing/manual-clock.js';
import { policyPatterns } from '../../platform/index.js';
import { consumerTimeoutOf, knownServer } from './known-server.js';

const minutes = 60_000;

describe('the consumer timeout of a server', () => {
  it.each<[string, number | undefined, object]>([
    ['3.10.8', undefined, { limit: 30 * minutes, byQueue: false }],
    ['3.11.28', undefined, { limit: 30 * minutes, byQueue: false }],
    ['3.12.0', undefined, { limit: 30 * minutes, byQueue: true }],
    ['4.1.2', 7, { limit: 7, byQueue: true }],
    ['4.3.6', undefined, { limit: 30 * minutes, byQueue: true, quorumOnly: true }],
    ['3.10.8', Infinity, { limit: Infinity, byQueue: false }],
  ])('RabbitMQ %s, with the option %s', (version, option, expected) => {
    const server = knownServer({ product: 'RabbitMQ', version, properties: new Map(), can: () => true } as never);
    expect(consumerTimeoutOf(server, option)).toEqual({ quorumOnly: false, ...expected });
  });

  it.each([
    [{}, { limit: 30 * minutes, byQueue: true, quorumOnly: true }],
    [{ consumerTimeout: 5 * minutes }, { limit: 5 * minutes, byQueue: true, quorumOnly: true }],
    [
      { consumerTimeout: 5_000_000_000, rabbitmq: '3.10' },
      { limit: 5_000_000_000, byQueue: false },
    ],
    [{ consumerTimeout: Infinity }, { limit: Infinity, byQueue: true, quorumOnly: true }],
  ] as const)('a dlx-broker with %o says it', async (options, expected) => {
    const clock = new ManualClock();
    const broker = new Broker({ clock, names: new CountedNames(), patterns: policyPatterns, ...options });
    const backend = await linkedBackend(new LinkedServer({}, { broker }));
    expect(backend.consumerTimeout).toEqual({ quorumOnly: false, ...expected });
    void backend.close();
  });
});
