import type { Access, Broker, Permissions } from '../../engine/broker/index.js';
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

/** The tags that grant something. RabbitMQ permits others, which mean something to plugins. */
export const grantingTags = ['administrator', 'policymaker', 'monitoring', 'management', 'editor', 'impersonator'];

/** Lines for the operator about users whose settings are permitted, and are likely to be a mistake. */
export function doubtsAbout(access: Access): readonly string[] {
  const permitted = new Set(access.listPermissions().map(({ user }) => user));
  return access.users().flatMap(({ name, tags }) => {
    const lines = tags
      .filter((tag) => !grantingTags.includes(tag))
      .map(
        (tag) => `user '${name}' has the tag '${tag}', which grants nothing; tags that do: ${grantingTags.join(', ')}`,
      );
    if (tags.length === 0 && !permitted.has(name))
      lines.push(
        `user '${name}' has no permissions in any virtual host and no tags, so a client can do nothing as this user`,
      );
    return lines;
  });
}
