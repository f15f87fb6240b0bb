import type { Backend } from '../../backend/index.js';
import { has } from '../check-options.js';
import { type Made, make } from './made.js';

/** What {@link customBackend} returns: a broker behind a backend that the application does not own. */
export interface CustomBackend extends Made<'custom'> {
  readonly backend: Backend;
}

const isBackend = has('Backend', 'connect', 'declare', 'publish', 'consume', 'close');

/**
 * A way to a broker that the caller opened and closes: `forRoot({ broker: customBackend(backend) })`.
 * @throws DlxConfigurationError naming the method that is missing
 */
export function customBackend(backend: Backend): CustomBackend {
  isBackend(backend, 'customBackend()');
  return make('custom', { backend });
}
