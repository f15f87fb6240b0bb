import type { Broker, Permissions } from '../broker/index.js';
import { hashPassword } from './password.js';

/** Somebody who may log in. */
export interface ServedUser {
  readonly name: string;
  readonly password: string;
  readonly tags?: readonly string[];
  /** By virtual host; without any the user cannot enter one. */
  readonly permissions?: Readonly<Record<string, Permissions>>;
}

const everything: Permissions = { configure: '.*', write: '.*', read: '.*' };

/** The user RabbitMQ begins with, who is let in from this machine only: everything in the named virtual hosts. */
export const guestOf = (...vhosts: readonly string[]): ServedUser => ({
  name: 'guest',
  password: 'guest',
  tags: ['administrator'],
  permissions: Object.fromEntries(vhosts.map((vhost) => [vhost, everything])),
});

/** Makes the users of a broker, or replaces those of the same name. @throws PatternError when a right is no pattern */
export function letIn({ access }: Broker, users: readonly ServedUser[]): void {
  for (const { name, password, tags = [], permissions = {} } of users) {
    access.setUser(name, { tags, passwordHash: hashPassword(password) });
    for (const [vhost, rights] of Object.entries(permissions)) access.setPermissions(name, vhost, rights);
  }
}
