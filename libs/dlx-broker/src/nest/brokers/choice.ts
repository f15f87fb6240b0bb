import { DlxConfigurationError } from '../../platform/options/index.js';
import type { Check } from '../module/check-options.js';
import type { CustomBackend } from './custom.js';
import type { EmbeddedBroker } from './embedded.js';
import { made } from './made.js';
import type { RabbitMqBroker } from './rabbitmq.js';
import type { SharedBroker } from './shared.js';

/** What the functions of this folder make of a `BrokerChoice`, with its content. */
export type KnownBroker = EmbeddedBroker | SharedBroker | RabbitMqBroker | CustomBackend;

/** Remedies for values that are no choice of a broker, by a method that they have. */
const meanings: readonly (readonly [method: string, remedy: string])[] = [
  ['virtualHost', 'is a Broker of dlx-broker/engine; write broker: sharedBroker(broker)'],
  ['declare', 'is a Backend; write broker: customBackend(backend)'],
];

/** Checks the option `broker`. The error never shows the value, because a connection may hold a password. */
export const isChoice: Check = (value, origin) => {
  const given = (value ?? {}) as Readonly<Record<string | symbol, unknown>>;
  if (given[made] === true) return;
  const [, remedy] = meanings.find(([method]) => typeof given[method] === 'function') ?? [];
  const kinds =
    typeof value === 'string'
      ? "a string is no broker; write rabbitmq({ urls: '...' }) for a server, or embedded() for a broker in this process"
      : `${typeof value} is no broker; write embedded(), sharedBroker(broker), rabbitmq({ urls }) or customBackend(backend)`;
  throw new DlxConfigurationError(`${origin}: ${remedy ?? kinds}`);
};
