import type { Patterns } from './patterns.js';
import type { TopologyChange } from './ports.js';

/** Which routing keys a user may publish with, or bind by, on one topic exchange. */
export interface TopicPermissions {
  /** Empty for the default exchange. */
  readonly exchange: string;
  /** Patterns of routing keys; `{username}`, `{vhost}` and `{client_id}` in them are replaced. */
  readonly write: string;
  readonly read: string;
}

export interface UserTopicPermissions extends TopicPermissions {
  readonly user: string;
  readonly vhost: string;
}

/** Topic permissions of all users. */
export class TopicAccess {
  /** By virtual host, then user, then exchange. */
  readonly #grants = new Map<string, Map<string, Map<string, TopicPermissions>>>();

  constructor(
    readonly patterns: Patterns,
    readonly report: (change: TopologyChange) => void,
  ) {}

  /** @throws PatternError when a pattern is no regular expression; nothing has changed then */
  set(user: string, vhost: string, { exchange, write, read }: TopicPermissions): 'created' | 'changed' {
    for (const pattern of [write, read]) this.patterns.compile(pattern);
    let users = this.#grants.get(vhost);
    if (users === undefined) this.#grants.set(vhost, (users = new Map()));
    let grants = users.get(user);
    if (grants === undefined) users.set(user, (grants = new Map()));
    const existed = grants.has(exchange);
    const details = { exchange, write, read };
    grants.set(exchange, details);
    this.report({ kind: 'topic-permission', change: 'added', vhost, name: user, details });
    return existed ? 'changed' : 'created';
  }

  /** @param exchange all of them unless told; false when there were none */
  delete(user: string, vhost: string, exchange?: string): boolean {
    const grants = this.#grants.get(vhost)?.get(user);
    if (grants === undefined) return false;
    const names = exchange === undefined ? [...grants.keys()] : [exchange];
    let existed = false;
    for (const name of names) {
      if (!grants.delete(name)) continue;
      existed = true;
      this.report({ kind: 'topic-permission', change: 'removed', vhost, name: user, exchange: name });
    }
    if (grants.size === 0) this.#grants.get(vhost)?.delete(user);
    return existed;
  }

  list(): readonly UserTopicPermissions[] {
    return [...this.#grants].flatMap(([vhost, users]) =>
      [...users].flatMap(([user, grants]) => [...grants.values()].map((grant) => ({ user, vhost, ...grant }))),
    );
  }

  /** The user is gone, and every permission with it. */
  forgetUser(user: string): void {
    for (const users of this.#grants.values()) users.delete(user);
  }

  forgetVirtualHost(vhost: string): void {
    this.#grants.delete(vhost);
  }
}
