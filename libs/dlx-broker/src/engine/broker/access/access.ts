import type { Permissions, TopologyChange, User, UserLimitName, UserLimits } from '../declarations.js';
import { accessRefused } from '../errors.js';
import { PatternError, type Patterns } from '../patterns.js';
import type { Profile } from '../profile.js';
import { orderedLimits, UserPresence } from './limits.js';
import { accessOf, RememberedMatcher, TopicAccess } from './topic-access.js';

export type Right = 'configure' | 'write' | 'read';
export type AccessKind = 'queue' | 'exchange';

export interface UserPermissions extends Permissions {
  readonly user: string;
  readonly vhost: string;
}

/** Users, and their permissions in virtual hosts. */
export class Access {
  readonly topics: TopicAccess;
  /** The connections and channels of users, and their limits (rule N7). */
  readonly presence: UserPresence;
  readonly #patterns: Patterns;
  readonly #namesRights: boolean;
  readonly #report: (change: TopologyChange) => void;
  readonly #users = new Map<string, User>();
  /** Permissions by user and virtual host. */
  readonly #grants = new Map<string, Map<string, Grant>>();

  /** @param report called after every change */
  constructor(
    patterns: Patterns,
    profile: Pick<Profile, 'namesRights' | 'bareChannelLimit'>,
    report: (change: TopologyChange) => void = () => {},
  ) {
    this.#patterns = patterns;
    this.#namesRights = profile.namesRights;
    this.#report = report;
    this.topics = new TopicAccess(patterns, profile.namesRights, report);
    this.presence = new UserPresence((user) => this.#users.get(user)?.limits, profile);
  }

  user(name: string): User | undefined {
    return this.#users.get(name);
  }

  users(): readonly User[] {
    return [...this.#users.values()];
  }

  /** Adds a user, or replaces tags and password. Permissions stay, and limits that are not given. */
  setUser(name: string, { tags = [], passwordHash, limits }: Partial<Omit<User, 'name'>> = {}): 'created' | 'changed' {
    const existing = this.#users.get(name);
    this.#putUser({ name, tags, passwordHash, limits: { ...existing?.limits, ...limits } });
    return existing === undefined ? 'created' : 'changed';
  }

  /**
   * Sets some limits of a user; the others stay (rule N7).
   * @returns false if there is no such user
   */
  setUserLimits(name: string, limits: UserLimits): boolean {
    const user = this.#users.get(name);
    if (user !== undefined) this.#putUser({ ...user, limits: { ...user.limits, ...limits } });
    return user !== undefined;
  }

  /**
   * Removes a limit of a user.
   * @param limit default: all limits
   * @returns false if there is no such user
   */
  clearUserLimits(name: string, limit?: UserLimitName): boolean {
    const user = this.#users.get(name);
    if (user?.limits !== undefined) {
      this.#putUser({ ...user, limits: limit === undefined ? undefined : { ...user.limits, [limit]: undefined } });
    }
    return user !== undefined;
  }

  #putUser({ limits, ...user }: User): void {
    const ordered = orderedLimits(limits);
    const details = ordered === undefined ? user : { ...user, limits: ordered };
    this.#users.set(user.name, details);
    this.#report({ kind: 'user', change: 'added', name: user.name, details });
  }

  /**
   * Deletes a user and all permissions of the user.
   * @returns false if there is no such user
   */
  deleteUser(name: string): boolean {
    this.#grants.delete(name);
    this.topics.forgetUser(name);
    const existed = this.#users.delete(name);
    if (existed) this.#report({ kind: 'user', change: 'removed', name });
    return existed;
  }

  /**
   * Sets the permissions of a user in a virtual host.
   * @throws PatternError for an invalid pattern; nothing has changed then
   */
  setPermissions(user: string, vhost: string, permissions: Permissions): 'created' | 'changed' {
    const grant = new Grant(permissions, this.#patterns, `of user '${user}' in vhost '${vhost}'`);
    let grants = this.#grants.get(user);
    if (grants === undefined) this.#grants.set(user, (grants = new Map()));
    const existed = grants.has(vhost);
    grants.set(vhost, grant);
    this.#report({ kind: 'permission', change: 'added', vhost, name: user, details: grant.permissions });
    return existed ? 'changed' : 'created';
  }

  /** @returns false if there were no permissions */
  deletePermissions(user: string, vhost: string): boolean {
    const existed = this.#grants.get(user)?.delete(vhost) ?? false;
    if (existed) this.#report({ kind: 'permission', change: 'removed', vhost, name: user });
    return existed;
  }

  permissions(user: string, vhost: string): UserPermissions | undefined {
    const grant = this.#grants.get(user)?.get(vhost);
    return grant && { user, vhost, ...grant.permissions };
  }

  listPermissions(): readonly UserPermissions[] {
    return [...this.#grants].flatMap(([user, grants]) =>
      [...grants].map(([vhost, grant]) => ({ user, vhost, ...grant.permissions })),
    );
  }

  /** Removes all permissions in a virtual host that was deleted. */
  forgetVirtualHost(vhost: string): void {
    for (const grants of this.#grants.values()) grants.delete(vhost);
    this.topics.forgetVirtualHost(vhost);
  }

  /** True if a user has permissions in the virtual host, even empty ones (rule N1). */
  mayEnter(user: string, vhost: string): boolean {
    return this.#grants.get(user)?.has(vhost) ?? false;
  }

  /**
   * @param user undefined for the host application, which needs no permissions
   * @throws 403 with the text of rule N1; the default exchange is called `amq.default` (rule N2)
   */
  check(user: string | undefined, vhost: string, right: Right, kind: AccessKind, name: string): void {
    if (user === undefined || this.may(user, vhost, right, kind, name)) return;
    const access = accessOf(right, this.#namesRights);
    throw accessRefused(
      `${access} to ${kind} '${knownName(kind, name)}' in vhost '${vhost}' refused for user '${user}'`,
    );
  }

  /** For a passive declare (rule N4). @throws 403 unless the user has any right */
  checkAny(user: string, vhost: string, kind: AccessKind, name: string): void {
    if (this.may(user, vhost, 'read', kind, name) || this.may(user, vhost, 'write', kind, name)) return;
    this.check(user, vhost, 'configure', kind, name);
  }

  /** True if a user has a right (rules N1, N2). */
  may(user: string, vhost: string, right: Right, kind: AccessKind, name: string): boolean {
    return this.#grants.get(user)?.get(vhost)?.allows(right, knownName(kind, name)) === true;
  }
}

/** The name in permissions. */
const knownName = (kind: AccessKind, name: string): string =>
  kind === 'exchange' && name === '' ? 'amq.default' : name;

/** The permissions of a user in a virtual host. */
class Grant {
  readonly permissions: Permissions;
  readonly #matchers: Readonly<Record<Right, RememberedMatcher>>;

  /** @throws PatternError naming the pattern, the user and the virtual host */
  constructor({ configure, write, read }: Permissions, patterns: Patterns, whose: string) {
    const compile = (right: Right, pattern: string): RememberedMatcher => {
      try {
        return new RememberedMatcher(pattern, patterns);
      } catch (error) {
        if (!(error instanceof PatternError)) throw error;
        throw error.of(right, pattern, whose);
      }
    };
    this.permissions = { configure, write, read };
    this.#matchers = {
      configure: compile('configure', configure),
      write: compile('write', write),
      read: compile('read', read),
    };
  }

  allows(right: Right, name: string): boolean {
    return this.#matchers[right].matches(name);
  }
}
