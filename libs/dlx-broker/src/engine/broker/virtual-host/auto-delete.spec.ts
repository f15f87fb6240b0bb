import { expect, it } from 'vitest';
import { harness } from '../../../nest/testing/harness.js';
import { listen } from '../../../../../../test/harnesses/listener.js';

it('rule P4: a chain of auto-delete exchanges of any length goes with its last binding', () => {
  const { broker } = harness();
  const { channel } = listen(broker);
  const vhost = broker.virtualHost('/');
  const predeclared = vhost.exchanges.size;
  const length = 20_000;
  for (let index = 0; index < length; index++)
    channel.declareExchange(`x${index}`, { type: 'fanout', autoDelete: true });
  for (let index = 1; index < length; index++) channel.bindExchange(`x${index}`, `x${index - 1}`, '');
  channel.declareQueue('q');
  channel.bindQueue('q', `x${length - 1}`, '');
  channel.deleteQueue('q');

  expect(vhost.exchanges.size).toBe(predeclared);
});
