import type { Broker, Queue, VirtualHost } from '../engine/broker/index.js';

/** References to the name of a queue, as lines of text. */
export interface References {
  /** Bindings: they are removed with the queue, or follow it to its new name. */
  readonly bindings: readonly string[];
  /** Dead-letter settings with its name: they are not changed. */
  readonly deadLetters: readonly string[];
}

export function referencesTo(broker: Broker, queue: Queue): References {
  const vhost = broker.virtualHost(queue.home.name);
  return {
    bindings: bindingsOf(vhost, queue),
    deadLetters: [...namedByQueues(vhost, queue), ...namedByPolicies(vhost, queue)],
  };
}

const bindingsOf = (vhost: VirtualHost, queue: Queue): string[] =>
  [...vhost.exchanges.values()].flatMap((exchange) =>
    exchange
      .bindings()
      .filter(({ destination }) => destination === queue)
      .map(({ bindingKey }) => `exchange '${exchange.name}' is bound to it with the key '${bindingKey}'`),
  );

const namedByQueues = (vhost: VirtualHost, { name }: Queue): string[] =>
  [...vhost.queues.values()]
    .filter(({ settings }) => settings.deadLetterExchange === '' && settings.deadLetterRoutingKey === name)
    .map((other) => `queue '${other.name}' sends its dead letters to it by name`);

function namedByPolicies(vhost: VirtualHost, { name }: Queue): string[] {
  const { user, operator } = vhost.policies;
  return [...user.list(), ...operator.list()]
    .filter(({ definition }) =>
      Object.entries(definition).some(([key, value]) => key === 'dead-letter-routing-key' && value === name),
    )
    .map((policy) => `policy '${policy.name}' has it as its dead-letter-routing-key`);
}
