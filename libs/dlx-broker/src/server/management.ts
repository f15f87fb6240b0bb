import {
  type Broker,
  type Channel,
  type ConnectOptions,
  type User,
  type VirtualHost,
  silentOutbox,
} from '../engine/broker/index.js';

import { visibleVhosts } from './http/auth.js';
import { Dlx } from './dlx/dlx.js';
import type { ManagementHost } from './host.js';
import { Measures } from './statistics/measures.js';
import { notFound } from './http/reply.js';
import { Statistics } from './statistics/statistics.js';

/** The broker, and what the handlers of requests share. */
export class Management {
  readonly nodeName: string;
  readonly statistics: Statistics;
  readonly dlx: Dlx;

  /**
   * @param edits true if messages may be edited
   */
  constructor(
    readonly host: ManagementHost,
    readonly edits = false,
  ) {
    this.nodeName = host.nodeName ?? 'rabbit@localhost';
    this.dlx = host.dlx ?? new Dlx(host);
    this.statistics = host.statistics ?? new Statistics(host.broker, host.now, host.data?.directory, host.memory);
  }

  get broker(): Broker {
    return this.host.broker;
  }

  /** The name that an administrator set, or else that of the node. */
  get clusterName(): string {
    return this.broker.clusterName ?? this.nodeName;
  }

  now(): number {
    return this.host.now();
  }

  /** The present numbers, with the rates and samples that a request asks for. */
  measures({ query }: { readonly query: URLSearchParams }): Measures {
    return new Measures(this.statistics, query, this.now());
  }

  /** @throws Problem 404 */
  vhost(name: string): VirtualHost {
    const vhost = this.broker.virtualHosts.get(name);
    if (vhost === undefined) throw notFound();
    return vhost;
  }

  /** The virtual hosts that a user may see, sorted by name. */
  vhostsOf(user: User): readonly VirtualHost[] {
    return visibleVhosts(this.broker, user).map((name) => this.vhost(name));
  }

  /**
   * Acts as a user, who needs the permissions for it. The connection ends with the call.
   * @throws AmqpError, which reply.ts turns into a status
   */
  as<T>(user: User, vhost: string, act: (channel: Channel) => T): T {
    return this.#act({ vhost, user: user.name, isBrief: true }, act);
  }

  /** Acts as the host application, which needs no permissions: for imports by an administrator. */
  asHost<T>(vhost: string, act: (channel: Channel) => T): T {
    return this.#act({ vhost }, act);
  }

  #act<T>(options: ConnectOptions, act: (channel: Channel) => T): T {
    const connection = this.broker.connect(options);
    try {
      return act(connection.openChannel(silentOutbox));
    } finally {
      connection.close();
    }
  }
}
