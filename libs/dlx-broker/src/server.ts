/*
 * The entry point for scripts that start a broker for other processes: what `npx dlx-broker serve` does, as a
 * function.
 */

// A broker on its own
export { serve, type Served, type ServeOptions } from './server/serve/serve.js';
export type { ServedUser } from './platform/logins/index.js';
export type { Permissions, ProfileName } from './engine/broker/index.js';

// Ports
export type { Limits, Listener, TlsOptions } from './amqp/server/index.js';
export type { HttpListener, HttpOptions } from './server/index.js';
