/*
 * The entry point for scripts that start a broker for other processes: what `npx dlx-broker serve` does, as a
 * function.
 */

// A broker on its own
export { serve, type Served, type ServeOptions } from './serve.js';
export type { ServedUser } from './logins/index.js';
export type { Permissions, ProfileName } from './broker/index.js';

// Ports
export type { Limits, Listener, TlsOptions } from './amqp/index.js';
export type { HttpListener, HttpOptions } from './management/index.js';
