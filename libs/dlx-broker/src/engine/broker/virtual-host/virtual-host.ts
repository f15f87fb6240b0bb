import type { Connection } from '../channel/connection.js';
import { VirtualHostCore } from './core.js';

/** A virtual host with its connections. */
export class VirtualHost extends VirtualHostCore {
  /** The open ones. */
  readonly connections = new Set<Connection>();
}
