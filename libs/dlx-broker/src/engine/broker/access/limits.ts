import { methodIds } from '../../message/index.js';
import {
  type LimitName,
  reached,
  type TopologyChange,
  type UserLimitName,
  userLimitNames,
  type UserLimits,
} from '../declarations.js';
import { AmqpError } from '../errors.js';
import type { Profile } from '../profile.js';

export const isUserLimit = (name: string): name is UserLimitName =>
  (userLimitNames as readonly string[]).includes(name);

/** The limits in the order of their names; undefined if there are none. */
export function orderedLimits(limits: UserLimits | undefined): UserLimits | undefined {
  const known = userLimitNames.filter((name) => limits?.[name] !== undefined);
  return known.length === 0 ? undefined : Object.fromEntries(known.map((name) => [name, limits?.[name]]));
}

interface Count {
  connections: number;
  channels: number;
}

/** Reads the present limits of a user. */
type LimitsOf = (user: string) => UserLimits | undefined;

/** Counts the connections and channels of each user, and checks the limits (rule N7). */
export class UserPresence {
  readonly #counts = new Map<string, Count>();

  constructor(
    readonly limitsOf: LimitsOf,
    readonly profile: Pick<Profile, 'bareChannelLimit'>,
  ) {}

  /** @throws 530 when the user has the most connections allowed */
  checkConnection(user: string): void {
    const limit = reached(this.limitsOf(user)?.['max-connections'], this.#counts.get(user)?.connections ?? 0);
    if (limit === undefined) return;
    const text = `connection refused for user '${user}': user connection limit (${limit}) is reached`;
    throw new AmqpError('NOT_ALLOWED', text).blame(methodIds.connectionOpen);
  }

  /** @throws 530 when the user has the most channels allowed */
  checkChannel(user: string): void {
    const limit = reached(this.limitsOf(user)?.['max-channels'], this.#counts.get(user)?.channels ?? 0);
    if (limit === undefined) return;
    const shown = this.profile.bareChannelLimit ? limit : `(${limit})`;
    const text = `has reached the maximum allowed user limit of ${shown}`;
    throw new AmqpError('NOT_ALLOWED', `number of channels opened for user '${user}' ${text}`);
  }

  connected(user: string): void {
    const count = this.#counts.get(user);
    if (count === undefined) this.#counts.set(user, { connections: 1, channels: 0 });
    else count.connections++;
  }

  disconnected(user: string): void {
    const count = this.#counts.get(user);
    if (count !== undefined && --count.connections === 0) this.#counts.delete(user);
  }

  opened(user: string): void {
    const count = this.#counts.get(user);
    if (count !== undefined) count.channels++;
  }

  closed(user: string): void {
    const count = this.#counts.get(user);
    if (count !== undefined) count.channels--;
  }
}

/** How many connections and queues a virtual host may have; a negative number is no limit. */
export class VirtualHostLimits {
  readonly #values = new Map<LimitName, number>();

  /** @param report called after every change */
  constructor(
    readonly vhost: string,
    readonly report: (change: TopologyChange) => void,
  ) {}

  get(name: LimitName): number | undefined {
    return this.#values.get(name);
  }

  /** The limit, if `count` has reached it; otherwise undefined. */
  reachedBy(name: LimitName, count: number): number | undefined {
    return reached(this.#values.get(name), count);
  }

  list(): ReadonlyMap<LimitName, number> {
    return this.#values;
  }

  set(name: LimitName, value: number): void {
    this.#values.set(name, value);
    this.report({ kind: 'vhost-limit', change: 'added', vhost: this.vhost, name, value });
  }

  /** @returns false when there was no limit */
  delete(name: LimitName): boolean {
    const existed = this.#values.delete(name);
    if (existed) this.report({ kind: 'vhost-limit', change: 'removed', vhost: this.vhost, name });
    return existed;
  }
}
