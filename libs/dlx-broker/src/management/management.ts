import type { Broker, Channel, User, VirtualHost } from '../broker/index.js';

import { visibleVhosts } from './auth.js';
import type { ManagementHost } from './host.js';
import { notFound } from './reply.js';

/** What every handler is given: the broker, and what the resources share. */
export class Management {
  readonly nodeName: string;

  constructor(readonly host: ManagementHost) {
    this.nodeName = host.nodeName ?? 'rabbit@localhost';
  }

  get broker(): Broker {
    return this.host.broker;
  }

  now(): number {
    return this.host.now();
  }

  /** @throws Problem 404 */
  vhost(name: string): VirtualHost {
    const vhost = this.broker.virtualHosts.get(name);
    if (vhost === undefined) throw notFound();
    return vhost;
  }

  /** Those that lists show to somebody, by name. */
  vhostsOf(user: User): readonly VirtualHost[] {
    return visibleVhosts(this.broker, user).map((name) => this.vhost(name));
  }

  /**
   * Acts on the engine as this user: its permissions and its errors are the engine's own. The connection ends with the
   * call. @throws AmqpError; the registry makes HTTP of it
   */
  as<T>(user: User, vhost: string, act: (channel: Channel) => T): T {
    const connection = this.broker.connect({ vhost, user: user.name });
    try {
      return act(connection.openChannel(silent));
    } finally {
      connection.close();
    }
  }
}

const nothing = (): void => {};
const silent = { deliver: nothing, returned: nothing, confirmed: nothing, cancelled: nothing, closed: nothing };
