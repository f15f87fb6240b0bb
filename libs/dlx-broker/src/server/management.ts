import {
  type Broker,
  type Channel,
  type ConnectOptions,
  silentOutbox,
  type User,
  type VirtualHost,
} from '../engine/broker/index.js';
import { Dlx } from './dlx/state.js';
import type { ManagementHost, OpenPort } from './host.js';
import { isOf, visibleVhosts } from './http/auth.js';
import { notFound, Problem } from './http/reply.js';
import { Measures } from './statistics/measures.js';
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

type Names = Readonly<Record<string, string>>;

/** The virtual hosts of a list: the one in the path, or all that the user may access; administrators may access all. */
export function placesOf(
  { names, user }: { readonly names: Names; readonly user: User },
  management: Management,
): readonly VirtualHost[] {
  const all = vhostsIn(names, management);
  if (names['vhost'] !== undefined || isOf('administrator', user)) return all;
  return all.filter(({ name }) => management.broker.access.mayEnter(user.name, name));
}

/** The virtual host in the path, or all of them. */
export const vhostsIn = ({ vhost }: Names, management: Management): readonly VirtualHost[] =>
  vhost === undefined ? [...management.broker.virtualHosts.values()] : [management.vhost(vhost)];

/** True if a request asks for declarations only. */
export const withoutStatistics = ({ query }: { readonly query: URLSearchParams }): boolean =>
  query.get('disable_stats') === 'true';

/** All ports of this broker, sorted by protocol and number. */
export function portsOf({ host }: Management): readonly OpenPort[] {
  const all = [...(host.ports?.() ?? [])];
  return all.sort((one, other) => compare(one.protocol, other.protocol) || one.port - other.port);
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/**
 * Refuses a request that would bring in much to keep, while memory is short.
 * @throws Problem 503 during the memory alarm
 */
export function checkMemory({ alarms }: ManagementHost): void {
  if (alarms?.().includes('memory') !== true) return;
  throw new Problem(503, 'resource_alarm', 'low on memory: try again when the memory alarm is over', {
    'retry-after': '5',
  });
}
