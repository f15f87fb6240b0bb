import {
  type Broker,
  PatternError,
  type Patterns,
  type UserPermissions,
  type UserTopicPermissions,
} from '../../../engine/broker/index.js';
import { type JsonObject, requiredText } from '../../http/body.js';
import { badRequest, codes, noContent, notFound, ok, Problem, put } from '../../http/reply.js';
import type { Handler, Resource } from '../../http/resource.js';
import type { Management } from '../../management.js';
import { one, type Row, wholeList } from '../lists.js';

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

export const permissionRows = (broker: Broker): readonly (UserPermissions & Row)[] =>
  broker.access.listPermissions().map((row) => ({ ...row }));

const sortedBy = ['vhost', 'user'];

const getAll: Handler = (request, management) =>
  wholeList(request, management, permissionRows(management.broker), sortedBy);

const getOfVhost: Handler = (request, management) => {
  const rows = permissionRows(management.broker).filter(({ vhost }) => vhost === request.name('vhost'));
  return wholeList(request, management, rows, sortedBy);
};

const getOne: Handler = (request, { broker }) => {
  const permissions = broker.access.permissions(request.name('user'), request.name('vhost'));
  if (permissions === undefined) throw notFound();
  return one(request, { ...permissions });
};

const putOne: Handler = async ({ name, body }, management) => {
  const json = await body('configure', 'write', 'read');
  checkUserAndVhost(management.broker, name('user'), name('vhost'));
  return put(setPermissions(management, name('user'), name('vhost'), json));
};

const deleteOne: Handler = ({ name }, { broker }) => {
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
  { path: '/permissions', allows: 'administrator', GET: getAll },
  {
    path: '/permissions/:vhost/:user',
    allows: 'administrator',
    anyVhost: true,
    GET: getOne,
    PUT: putOne,
    DELETE: deleteOne,
  },
  { path: '/vhosts/:vhost/permissions', allows: 'administrator', GET: getOfVhost },
];

export const topicPermissionRows = (broker: Broker): readonly (UserTopicPermissions & Row)[] =>
  broker.access.topics.list().map((row) => ({ ...row }));

const topicsSortedBy = ['vhost', 'user', 'exchange'];

const getAllTopics: Handler = (request, management) =>
  wholeList(request, management, topicPermissionRows(management.broker), topicsSortedBy);

const getTopicsOfVhost: Handler = (request, management) => {
  const rows = topicPermissionRows(management.broker).filter(({ vhost }) => vhost === request.name('vhost'));
  return wholeList(request, management, rows, topicsSortedBy);
};

const getTopics: Handler = ({ name }, { broker }) => {
  const rows = topicPermissionRows(broker).filter(
    ({ user, vhost }) => user === name('user') && vhost === name('vhost'),
  );
  if (rows.length === 0) throw notFound();
  return ok(rows);
};

const putTopic: Handler = async ({ name, body }, management) => {
  const { broker } = management;
  const json = await body('exchange', 'write', 'read');
  checkUserAndVhost(broker, name('user'), name('vhost'));
  const hadAny = topicPermissionRows(broker).some(
    ({ user, vhost }) => user === name('user') && vhost === name('vhost'),
  );
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
const deleteOfExchange: Handler = ({ name }, { broker }) => {
  const { topics } = broker.access;
  if (!topics.list().some(({ user, vhost }) => user === name('user') && vhost === name('vhost'))) throw notFound();
  topics.delete(name('user'), name('vhost'), name('exchange'));
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
  { path: '/topic-permissions', allows: 'administrator', GET: getAllTopics },
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
  { path: '/vhosts/:vhost/topic-permissions', allows: 'administrator', GET: getTopicsOfVhost },
];
