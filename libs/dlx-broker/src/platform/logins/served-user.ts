import type { Broker, Permissions } from '../../engine/broker/index.js';
import { hashPassword } from './password.js';

/** A user who may log in. */
export interface ServedUser {
  readonly name: string;
  readonly password: string;
  readonly tags?: readonly string[];
  /** By virtual host. Without permissions the user can open no virtual host. */
  readonly permissions?: Readonly<Record<string, Permissions>>;
}

const everything: Permissions = { configure: '.*', write: '.*', read: '.*' };

/** RabbitMQ's first user, who may log in from this machine only. It may do everything in the named virtual hosts. */
export const guestOf = (...vhosts: readonly string[]): ServedUser => ({
  name: 'guest',
  password: 'guest',
  tags: ['administrator'],
  permissions: Object.fromEntries(vhosts.map((vhost) => [vhost, everything])),
});

/** @throws UnknownVhostError when a user has permissions in a virtual host that does not exist */
export function refuseUnknownVhosts({ virtualHosts }: Broker, users: readonly ServedUser[]): void {
  for (const { name, permissions = {} } of users) {
    for (const vhost of Object.keys(permissions))
      if (!virtualHosts.has(vhost)) throw new UnknownVhostError(name, vhost);
  }
}

/** A user has permissions in a virtual host that does not exist. */
class UnknownVhostError extends Error {
  override readonly name = 'UnknownVhostError';

  constructor(user: string, vhost: string) {
    super(`user '${user}' has permissions in the virtual host '${vhost}', which is not there; add it to virtualHosts`);
  }
}

/** Makes the users of a broker, or replaces those of the same name. @throws PatternError when a right is no pattern */
export function addUsers({ access }: Broker, users: readonly ServedUser[]): void {
  for (const { name, password, tags = [], permissions = {} } of users) {
    access.setUser(name, { tags, passwordHash: hashPassword(password) });
    for (const [vhost, rights] of Object.entries(permissions)) access.setPermissions(name, vhost, rights);
  }
}
