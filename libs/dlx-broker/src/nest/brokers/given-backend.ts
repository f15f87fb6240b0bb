import type { Backend } from '../../backends/index.js';
import type { Connected } from '../module/options.js';

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
