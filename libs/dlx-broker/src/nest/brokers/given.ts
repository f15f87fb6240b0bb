import type { Broker } from '../../engine/broker/index.js';
import { DlxConfigurationError } from '../../platform/options/index.js';
import { has } from '../module/check-options.js';
import { accessChecks, type AccessOptions, embeddedChecks } from './embedded.js';
import { type BrokerChoice, type Made, make, read } from './made.js';
import type { Backend } from '../../backends/index.js';
import type { Connected } from '../module/options.js';

/** What {@link sharedBroker} takes beside the broker. */
export type SharedBrokerOptions = AccessOptions;

/** A broker in this process that the application does not own, as {@link sharedBroker} returns it. */
export interface SharedBroker extends Made<'shared'> {
  readonly engine: Broker;
  readonly options: Readonly<SharedBrokerOptions>;
}

const isBroker = has('Broker of dlx-broker/engine', 'connect', 'virtualHost');

/**
 * A broker in this process that the caller made and closes, such as one of `createBroker()` that several applications
 * share: `forRoot({ broker: sharedBroker(broker) })`.
 * @throws DlxConfigurationError naming the option, the value and a remedy
 */
export function sharedBroker(broker: Broker, options: SharedBrokerOptions = {}): BrokerChoice {
  isBroker(broker, 'sharedBroker()');
  const astray = Object.keys(options ?? {}).find((key) => !Object.hasOwn(accessChecks, key));
  if (astray !== undefined && Object.hasOwn(embeddedChecks, astray)) {
    throw new DlxConfigurationError(
      `sharedBroker(): '${astray}' is an option of embedded(), which makes a broker; this one is made by its owner`,
    );
  }
  const checked = read(options, accessChecks, 'sharedBroker()', "write { vhost: 'shop' }");
  return make('shared', { engine: broker, options: checked });
}

/** A broker behind a backend that the application does not own, as {@link customBackend} returns it. */
export interface CustomBackend extends Made<'custom'> {
  readonly backend: Backend;
}

const isBackend = has('Backend', 'connect', 'onState', 'declare', 'publish', 'consume', 'close');

/**
 * A backend that the caller opens and closes: `forRoot({ broker: customBackend(backend) })`.
 * @throws DlxConfigurationError naming the method that is missing
 */
export function customBackend(backend: Backend): BrokerChoice {
  isBackend(backend, 'customBackend()');
  return make('custom', { backend });
}

const nothing = async (): Promise<void> => {};

/** A backend that the caller opened and closes. */
export const givenBackend = (backend: Backend): Connected => ({
  backend,
  open: nothing,
  amqp: () => undefined,
  http: () => undefined,
  urls: () => undefined,
  close: nothing,
});
