import type { Broker, User } from '../../engine/broker/index.js';
import { notAuthorised, notFound, noVhost } from './reply.js';

/** The tag that a resource requires. */
export type Audience = 'management' | 'monitor' | 'policymaker' | 'editor' | 'administrator';

interface Rule {
  readonly tags: readonly string[];
  readonly refusal: string;
  /** The reason of the refusal for users without access to the virtual host. Default: the usual one. */
  readonly vhostRefusal?: string;
}

/** The tags that give access to a resource, and the reason for all other users: RabbitMQ's own rights and texts. */
export const audiences: Readonly<Record<Audience, Rule>> = {
  management: {
    tags: ['management', 'policymaker', 'monitoring', 'administrator'],
    refusal: 'Not management user',
  },
  monitor: { tags: ['monitoring', 'administrator'], refusal: 'Not monitor user' },
  policymaker: {
    tags: ['policymaker', 'administrator'],
    refusal: 'User not authorised to access object',
    vhostRefusal: 'User not authorised to access object',
  },
  /** A tag of our own. It gives no access to the API: a user needs one of the others besides. */
  editor: {
    tags: ['editor', 'administrator'],
    refusal: "an edit of a message needs the tag 'editor' or 'administrator', besides the rights of a redrive",
  },
  administrator: { tags: ['administrator'], refusal: 'Not administrator user' },
};

/** True if the user has one of these tags. */
export const isOf = (audience: Audience, user: User): boolean =>
  user.tags.some((tag) => audiences[audience].tags.includes(tag));

/** @throws Problem 401 for users without any tag of the API, and then for users without the required tag */
export function checkAudience(user: User, audience: Audience): void {
  for (const asked of ['management', audience] as const) {
    if (!isOf(asked, user)) throw notAuthorised(audiences[asked].refusal);
  }
}

/** The rights of a resource. */
interface Guarded {
  readonly allows: Audience;
  readonly visibleVhost?: true;
}

/** @throws Problem 404 if there is no such virtual host, 401 if it is closed to the user */
export function checkVhost(
  broker: Broker,
  user: User,
  vhost: string,
  method: string,
  { allows, visibleVhost }: Guarded = { allows: 'management' },
): void {
  if (!broker.virtualHosts.has(vhost)) throw method === 'PUT' || method === 'POST' ? noVhost() : notFound();
  if (isOf('administrator', user) || broker.access.mayEnter(user.name, vhost)) return;
  if (visibleVhost === true && isOf('monitor', user)) return;
  throw notAuthorised(audiences[allows].vhostRefusal ?? 'User not authorised to access virtual host');
}

/**
 * True if a user may see what may come from messages of a queue, such as the text of an error: an administrator, and a user with the right
 * to read from the queue.
 */
export const mayRead = (broker: Broker, user: User, vhost: string, queue: string): boolean =>
  isOf('administrator', user) || broker.access.may(user.name, vhost, 'read', 'queue', queue);

/** The virtual hosts in lists for a user: all with the tag monitoring, otherwise those that the user may access. */
export function visibleVhosts(broker: Broker, user: User): readonly string[] {
  const all = [...broker.virtualHosts.keys()].sort();
  return isOf('monitor', user) ? all : all.filter((vhost) => broker.access.mayEnter(user.name, vhost));
}
