import type { Backend } from '../../backend/index.js';
import type { Connected } from '../options.js';

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
