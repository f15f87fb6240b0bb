import type { Broker } from '../../engine/broker/index.js';
import { DlxConfigurationError } from '../../platform/options/index.js';
import { has } from '../module/check-options.js';
import { accessChecks, type AccessOptions, embeddedChecks } from './embedded.js';
import { type BrokerChoice, type Made, make, read } from './made.js';

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
