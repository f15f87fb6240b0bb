import { AuditLog } from '../audit/audit-log.js';
import type { VirtualHost } from '../../broker/index.js';
import { SharedTurns } from '../http/turns.js';
import { notFound } from '../http/reply.js';
import type { Capabilities } from '../dlx/capabilities.js';
import type { Caller } from './caller.js';
import { Callers } from './callers.js';
import type { RemoteHost } from './host.js';
import { ask, refusal } from './get-json.js';
import type { ServerKind } from './relayed.js';
import { RemoteRedrives, type RemoteTask } from './redrives/remote-redrives.js';
import { type Snapshot, Snapshots } from './snapshot.js';

/** How long the kind of a server is remembered, in milliseconds: another one may come to its address. */
const rememberedKind = 30_000;

/** A server, and what the handlers of requests about it share. */
export class Remote {
  readonly turns = new SharedTurns();
  readonly snapshots: Snapshots;
  readonly audit: AuditLog;
  readonly redrives: RemoteRedrives;
  readonly callers: Callers;
  #kind: { readonly is: ServerKind; readonly until: number } | undefined;

  constructor(readonly host: RemoteHost) {
    this.callers = new Callers(host.server, host.clock);
    this.snapshots = new Snapshots(host, this.turns);
    this.audit = new AuditLog(() => host.clock.now(), host.audit);
    this.redrives = new RemoteRedrives(
      host.startRedrive,
      () => host.clock.now(),
      (task) => this.#ended(task),
    );
  }

  get server(): RemoteHost['server'] {
    return this.host.server;
  }

  /** What the server is: a dlx-broker has paths of its own. @throws Problem when it does not answer */
  async kind(caller: Caller): Promise<ServerKind> {
    const now = this.host.clock.now();
    if (this.#kind !== undefined && this.#kind.until > now) return this.#kind.is;
    const path = ['dlx', 'capabilities'];
    const { status, body } = await ask(this.server, caller, path);
    // A server that is busy, or refuses this user, does not say what it is; and all users would be shown the wrong kind.
    if (status !== 200 && status !== 404) throw refusal(path, status, body);
    const can = (body ?? {}) as Partial<Capabilities>;
    const is = status === 200 && can.product === 'dlx-broker' ? can.product : 'RabbitMQ';
    this.#kind = { is, until: now + rememberedKind };
    return is;
  }

  /** What a dlx-broker says that this user can do, with its address. Users differ, so nothing is remembered. */
  async capabilities(caller: Caller): Promise<Partial<Capabilities>> {
    const path = ['dlx', 'capabilities'];
    const { status, body } = await ask(this.server, caller, path);
    if (status !== 200) throw refusal(path, status, body);
    return { ...(body as Partial<Capabilities>), server: this.server.base };
  }

  #ended({ id, order, mover, reason }: RemoteTask): void {
    const { state, moved, left, cameBack } = mover.counts;
    this.audit.record({
      user: order.user,
      from: '',
      action: `redrive ${state}`,
      names: { vhost: order.vhost, name: order.queue },
      details: { task: id, moved, left, came_back: cameBack, ...(reason !== undefined && { reason }) },
    });
  }

  /** Forgets passwords, stops redrives, and waits until the audit log is written. */
  async close(): Promise<void> {
    this.callers.close();
    await this.redrives.close();
    await this.host.audit?.close();
  }
}

/**
 * The virtual hosts of a snapshot that a request is about, sorted by name.
 * @throws Problem 404 for one that the user does not see
 */
export function vhostsIn({ graphs, mirror }: Snapshot, query: URLSearchParams): readonly VirtualHost[] {
  const name = query.get('vhost');
  const names = name === null ? [...graphs.keys()].sort() : [name];
  return names.map((each) => {
    const vhost = graphs.has(each) ? mirror.broker.virtualHosts.get(each) : undefined;
    if (vhost === undefined) throw notFound();
    return vhost;
  });
}
