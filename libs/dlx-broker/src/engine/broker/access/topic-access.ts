import type { TopicPermissions, TopologyChange } from '../declarations.js';
import { accessRefused } from '../errors.js';
import { type Matcher, PatternError, type Patterns } from '../patterns.js';

/** The most remembered results of one pattern. */
const cacheLimit = 1_000;

/** The pattern of a permission, with its results for earlier names. */
export class RememberedMatcher implements Matcher {
  readonly #matcher: Matcher;
  readonly #answers = new Map<string, boolean>();

  /** @throws PatternError for an invalid regular expression */
  constructor(pattern: string, patterns: Patterns) {
    // In RabbitMQ an empty pattern matches the empty name only.
    this.#matcher = patterns.compile(pattern === '' ? '^$' : pattern);
  }

  matches(name: string): boolean {
    const known = this.#answers.get(name);
    if (known !== undefined) return known;
    const answer = this.#matcher.matches(name);
    if (this.#answers.size >= cacheLimit) this.#answers.clear();
    this.#answers.set(name, answer);
    return answer;
  }
}

/** How a refusal begins (rule N1). */
export const accessOf = (right: string, isNamed: boolean): string => (isNamed ? `${right} access` : 'access');

export interface UserTopicPermissions extends TopicPermissions {
  readonly user: string;
  readonly vhost: string;
}

interface Grant {
  readonly permissions: TopicPermissions;
  readonly write: RememberedMatcher;
  readonly read: RememberedMatcher;
}

/** The topic permissions of all users. A user without any for an exchange may use every routing key there. */
export class TopicAccess {
  readonly #patterns: Patterns;
  readonly #namesRights: boolean;
  readonly #report: (change: TopologyChange) => void;
  /** Permissions by virtual host, user and exchange. */
  readonly #grants = new Map<string, Map<string, Map<string, Grant>>>();

  /** @param report called after every change */
  constructor(patterns: Patterns, namesRights: boolean, report: (change: TopologyChange) => void) {
    this.#patterns = patterns;
    this.#namesRights = namesRights;
    this.#report = report;
  }

  /** @throws PatternError for an invalid pattern; nothing has changed then */
  set(user: string, vhost: string, { exchange, write, read }: TopicPermissions): 'created' | 'changed' {
    const permissions = { exchange, write, read };
    const matcher = (right: string, pattern: string): RememberedMatcher => {
      try {
        this.#patterns.compile(pattern); // compiled without its variables, for the position of a fault
        return new RememberedMatcher(expanded(pattern, user, vhost), this.#patterns);
      } catch (error) {
        if (!(error instanceof PatternError)) throw error;
        throw error.of(right, pattern, `for topics of exchange '${exchange}' of user '${user}' in vhost '${vhost}'`);
      }
    };
    const grant = { permissions, write: matcher('write', write), read: matcher('read', read) };
    const grants = this.#of(user, vhost);
    const existed = grants.has(exchange);
    grants.set(exchange, grant);
    this.#report({ kind: 'topic-permission', change: 'added', vhost, name: user, details: permissions });
    return existed ? 'changed' : 'created';
  }

  /**
   * @param exchange default: all exchanges
   * @returns false if there were no permissions
   */
  delete(user: string, vhost: string, exchange?: string): boolean {
    const grants = this.#grants.get(vhost)?.get(user);
    if (grants === undefined) return false;
    const gone = [...grants.keys()].filter((name) => exchange === undefined || name === exchange);
    for (const name of gone) {
      grants.delete(name);
      this.#report({ kind: 'topic-permission', change: 'removed', vhost, name: user, exchange: name });
    }
    if (grants.size === 0) this.#grants.get(vhost)?.delete(user);
    return gone.length > 0;
  }

  list(): readonly UserTopicPermissions[] {
    return [...this.#grants].flatMap(([vhost, users]) =>
      [...users].flatMap(([user, grants]) =>
        [...grants.values()].map(({ permissions }) => ({ user, vhost, ...permissions })),
      ),
    );
  }

  /** @throws 403 if the user has permissions for this topic exchange that do not allow the routing key (rule N5) */
  check(user: string, vhost: string, right: 'write' | 'read', exchange: string, routingKey: string): void {
    const grant = this.#grants.get(vhost)?.get(user)?.get(exchange);
    if (grant === undefined || grant[right].matches(routingKey)) return;
    const topic = `topic '${routingKey}' in exchange '${exchange}' in vhost '${vhost}'`;
    throw accessRefused(`${accessOf(right, this.#namesRights)} to ${topic} refused for user '${user}'`);
  }

  /** Removes all permissions of a user who was deleted. */
  forgetUser(user: string): void {
    for (const users of this.#grants.values()) users.delete(user);
  }

  forgetVirtualHost(vhost: string): void {
    this.#grants.delete(vhost);
  }

  #of(user: string, vhost: string): Map<string, Grant> {
    let users = this.#grants.get(vhost);
    if (users === undefined) this.#grants.set(vhost, (users = new Map()));
    let grants = users.get(user);
    if (grants === undefined) users.set(user, (grants = new Map()));
    return grants;
  }
}

/**
 * Puts names into a pattern as literal text (rule V6). RabbitMQ reads them as patterns: a user called `.*` may do
 * everything there, and a name with a single bracket closes the connection.
 */
const expanded = (pattern: string, user: string, vhost: string): string =>
  pattern.replaceAll('{username}', () => literal(user)).replaceAll('{vhost}', () => literal(vhost));

const literal = (name: string): string => name.replaceAll(/[^\p{L}\p{N}_]/gu, '\\$&');
