import type { Backend } from '../../backends/index.js';
import { has } from '../module/check-options.js';
import { type BrokerChoice, type Made, make } from './made.js';

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
