import {
  AmqpError,
  type Broker,
  PatternError,
  type Patterns,
  type UserPermissions,
  type UserTopicPermissions,
} from '../../../engine/broker/index.js';
import { userOfJson, userToJson } from '../../definitions/user-json.js';
import { type JsonObject, requiredText } from '../../http/body.js';
import { badRequest, codes, noContent, notFound, ok, Problem, put } from '../../http/reply.js';
import type { ApiRequest, Handler, Resource } from '../../http/resource.js';
import type { Management } from '../../management.js';
import { one, wholeList } from '../lists.js';

/** The most characters of a pattern in a refusal: a reason is cut, and RabbitMQ's has the fault behind the pattern. */
const longestShown = 500;

/**
 * Refuses permissions with an invalid pattern. The reason is RabbitMQ's Erlang term. The message of the problem, which the log and
 * the command line show, names the permission.
 * @param all the patterns by the right that each is for
 * @param whose user and virtual host, for people
 * @param show how the pattern itself is shown in RabbitMQ's term
 * @throws Problem 400 for the first that is none
 */
function checkPatterns(
  patterns: Patterns,
  all: Readonly<Record<string, string>>,
  whose: string,
  show: (pattern: string) => unknown = codes,
): void {
  for (const [right, pattern] of Object.entries(all)) {
    try {
      patterns.compile(pattern);
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      const term = ['invalid_regexp', show(pattern.slice(0, longestShown)), [codes(error.reason), error.position]];
      throw new Problem(400, 'bad_request', term, {}, error.of(right, pattern, whose).message);
    }
  }
}

/** The permissions, or the topic permissions, and the columns that their lists are sorted by. */
export const permissionLists = {
  permissions: {
    rows: ({ access }: Broker): readonly UserPermissions[] => access.listPermissions(),
    sortedBy: ['vhost', 'user'],
  },
  topics: {
    rows: ({ access }: Broker): readonly UserTopicPermissions[] => access.topics.list(),
    sortedBy: ['vhost', 'user', 'exchange'],
  },
};

/** A list of permissions: all, or those of the virtual host or the user that the path names. @throws Problem 404 for an unknown user */
const permissionsOf =
  (kind: keyof typeof permissionLists, of?: 'vhost' | 'user'): Handler =>
  (request, management) => {
    const { rows, sortedBy } = permissionLists[kind];
    const { broker } = management;
    if (of === 'user' && broker.access.user(request.name('user')) === undefined) throw notFound();
    const all = rows(broker).map((row) => ({ ...row }));
    const found = of === undefined ? all : all.filter((row) => row[of] === request.name(of));
    return wholeList(request, management, found, sortedBy);
  };

const getPermissions: Handler = (request, { broker }) => {
  const permissions = broker.access.permissions(request.name('user'), request.name('vhost'));
  if (permissions === undefined) throw notFound();
  return one(request, { ...permissions });
};

const putPermissions: Handler = async ({ name, body }, management) => {
  const json = await body('configure', 'write', 'read');
  checkUserAndVhost(management.broker, name('user'), name('vhost'));
  return put(setPermissions(management, name('user'), name('vhost'), json));
};

const deletePermissions: Handler = ({ name }, { broker }) => {
  if (!broker.access.deletePermissions(name('user'), name('vhost'))) throw notFound();
  return noContent;
};

/**
 * Sets permissions, for requests and for definitions.
 * @throws Problem 400
 */
export function setPermissions(
  { broker, host }: Management,
  user: string,
  vhost: string,
  json: JsonObject,
): 'created' | 'changed' {
  const rights = {
    configure: requiredText(json, 'configure'),
    write: requiredText(json, 'write'),
    read: requiredText(json, 'read'),
  };
  checkPatterns(host.patterns, rights, `of user '${user}' in vhost '${vhost}'`);
  return broker.access.setPermissions(user, vhost, rights);
}

/** @throws Problem 400 */
function checkUserAndVhost(broker: Broker, user: string, vhost: string): void {
  if (broker.access.user(user) !== undefined && broker.virtualHosts.has(vhost)) return;
  throw badRequest('vhost_or_user_not_found');
}

export const permissions: readonly Resource[] = [
  { path: '/permissions', allows: 'administrator', GET: permissionsOf('permissions') },
  {
    path: '/permissions/:vhost/:user',
    allows: 'administrator',
    anyVhost: true,
    GET: getPermissions,
    PUT: putPermissions,
    DELETE: deletePermissions,
  },
  { path: '/vhosts/:vhost/permissions', allows: 'administrator', GET: permissionsOf('permissions', 'vhost') },
];

/** The topic permissions of the user and the virtual host that the path names. */
const topicsIn = ({ name }: ApiRequest, { access }: Broker): readonly UserTopicPermissions[] =>
  access.topics.list().filter(({ user, vhost }) => user === name('user') && vhost === name('vhost'));

const getTopics: Handler = (request, { broker }) => {
  const rows = topicsIn(request, broker);
  if (rows.length === 0) throw notFound();
  return ok(rows);
};

const putTopic: Handler = async (request, management) => {
  const { name, body } = request;
  const json = await body('exchange', 'write', 'read');
  checkUserAndVhost(management.broker, name('user'), name('vhost'));
  const hadAny = topicsIn(request, management.broker).length > 0;
  setTopicPermissions(management, name('user'), name('vhost'), json);
  return put(hadAny ? 'changed' : 'created');
};

const deleteTopics: Handler = ({ name }, { broker }) => {
  if (!broker.access.topics.delete(name('user'), name('vhost'))) throw notFound();
  return noContent;
};

/**
 * Deletes the permissions for one exchange. As RabbitMQ, it answers 404 only if the user has no topic permissions in
 * the virtual host.
 */
const deleteOfExchange: Handler = (request, { broker }) => {
  if (topicsIn(request, broker).length === 0) throw notFound();
  broker.access.topics.delete(request.name('user'), request.name('vhost'), request.name('exchange'));
  return noContent;
};

/**
 * Sets topic permissions, for requests and for definitions.
 * @throws Problem 400
 */
export function setTopicPermissions({ broker, host }: Management, user: string, vhost: string, json: JsonObject): void {
  const exchange = requiredText(json, 'exchange');
  const write = requiredText(json, 'write');
  const read = requiredText(json, 'read');
  const whose = `for topics of exchange '${exchange}' of user '${user}' in vhost '${vhost}'`;
  checkPatterns(host.patterns, { write, read }, whose, (pattern) => pattern);
  broker.access.topics.set(user, vhost, { exchange, write, read });
}

export const topicPermissions: readonly Resource[] = [
  { path: '/topic-permissions', allows: 'administrator', GET: permissionsOf('topics') },
  {
    path: '/topic-permissions/:vhost/:user',
    allows: 'administrator',
    anyVhost: true,
    GET: getTopics,
    PUT: putTopic,
    DELETE: deleteTopics,
  },
  {
    path: '/topic-permissions/:vhost/:user/:exchange',
    allows: 'administrator',
    anyVhost: true,
    GET: getTopics,
    PUT: putTopic,
    DELETE: deleteOfExchange,
  },
  { path: '/vhosts/:vhost/topic-permissions', allows: 'administrator', GET: permissionsOf('topics', 'vhost') },
];

const byName = ['name'];

const getAll: Handler = (request, management) =>
  wholeList(request, management, management.broker.access.users().map(userToJson), byName);

const getWithoutPermissions: Handler = (request, management) => {
  const { access } = management.broker;
  const permitted = new Set(access.listPermissions().map(({ user }) => user));
  const others = access.users().filter(({ name }) => !permitted.has(name));
  return wholeList(request, management, others.map(userToJson), byName);
};

const getOne: Handler = (request, { broker }) => {
  const user = broker.access.user(request.name('user'));
  if (user === undefined) throw notFound();
  return one(request, userToJson(user));
};

const putOne: Handler = async ({ name, body }, management) => {
  const { access, virtualHosts } = management.broker;
  const json = await body();
  const result = access.setUser(name('user'), userOfJson(json));
  if (result === 'changed') return noContent; // as in RabbitMQ, only a new user gets the permissions
  for (const [vhost, rights] of Object.entries(objectIn(json, 'permissions'))) {
    if (!virtualHosts.has(vhost)) throw badRequest(['no_such_vhost', vhost]);
    setPermissions(management, name('user'), vhost, objectIn({ [vhost]: rights }, vhost));
  }
  return put(result);
};

/** @throws Problem 400 */
function objectIn(json: JsonObject, key: string): JsonObject {
  const { [key]: value = {} } = json;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw badRequest(`${key} should be an object`);
}

const deleteOne: Handler = ({ name }, { broker }) => {
  if (!deleteUser(broker, name('user'))) throw notFound();
  return noContent;
};

const bulkDelete: Handler = async ({ body }, { broker }) => {
  const { users } = await body('users');
  if (!Array.isArray(users)) throw badRequest('users should be a list of names');
  for (const user of users as readonly unknown[]) {
    if (typeof user !== 'string' || broker.access.user(user) === undefined) throw badRequest(['no_such_user', user]);
    deleteUser(broker, user);
  }
  return noContent;
};

/**
 * Deletes a user, and closes the connections of the user.
 * @returns false if there is no such user
 */
function deleteUser(broker: Broker, name: string): boolean {
  if (!broker.access.deleteUser(name)) return false;
  for (const vhost of broker.virtualHosts.values()) {
    for (const connection of vhost.connections) {
      if (connection.user?.name === name)
        connection.force(new AmqpError('CONNECTION_FORCED', `user '${name}' is deleted`));
    }
  }
  return true;
}

export const users: readonly Resource[] = [
  { path: '/users', allows: 'administrator', GET: getAll },
  { path: '/users/bulk-delete', allows: 'administrator', POST: bulkDelete },
  { path: '/users/without-permissions', allows: 'administrator', GET: getWithoutPermissions },
  { path: '/users/:user', allows: 'administrator', GET: getOne, PUT: putOne, DELETE: deleteOne },
  { path: '/users/:user/permissions', allows: 'administrator', GET: permissionsOf('permissions', 'user') },
  { path: '/users/:user/topic-permissions', allows: 'administrator', GET: permissionsOf('topics', 'user') },
];
