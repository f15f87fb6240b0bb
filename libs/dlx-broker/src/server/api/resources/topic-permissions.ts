import type { Broker, UserTopicPermissions } from '../../../engine/broker/index.js';
import { requiredText } from '../../http/body.js';
import type { Row } from '../listing.js';
import type { Management } from '../../management.js';
import { checkPatterns } from '../patterns.js';
import { noContent, notFound, ok, put } from '../../http/reply.js';
import type { JsonObject } from '../../http/json-object.js';
import type { Handler, Resource } from '../../http/resource.js';
import { wholeList } from '../whole-list.js';
import { checkUserAndVhost } from './permissions.js';

export const topicPermissionRows = (broker: Broker): readonly (UserTopicPermissions & Row)[] =>
  broker.access.topics.list().map((row) => ({ ...row }));

const sortedBy = ['vhost', 'user', 'exchange'];

const getAll: Handler = (request, management) =>
  wholeList(request, management, topicPermissionRows(management.broker), sortedBy);

const getOfVhost: Handler = (request, management) => {
  const rows = topicPermissionRows(management.broker).filter(({ vhost }) => vhost === request.name('vhost'));
  return wholeList(request, management, rows, sortedBy);
};

const getOne: Handler = ({ name }, { broker }) => {
  const rows = topicPermissionRows(broker).filter(
    ({ user, vhost }) => user === name('user') && vhost === name('vhost'),
  );
  if (rows.length === 0) throw notFound();
  return ok(rows);
};

const putOne: Handler = async ({ name, body }, management) => {
  const { broker } = management;
  const json = await body('exchange', 'write', 'read');
  checkUserAndVhost(broker, name('user'), name('vhost'));
  const hadAny = topicPermissionRows(broker).some(
    ({ user, vhost }) => user === name('user') && vhost === name('vhost'),
  );
  setTopicPermissions(management, name('user'), name('vhost'), json);
  return put(hadAny ? 'changed' : 'created');
};

const deleteOne: Handler = ({ name }, { broker }) => {
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
  { path: '/topic-permissions', allows: 'administrator', GET: getAll },
  {
    path: '/topic-permissions/:vhost/:user',
    allows: 'administrator',
    anyVhost: true,
    GET: getOne,
    PUT: putOne,
    DELETE: deleteOne,
  },
  {
    path: '/topic-permissions/:vhost/:user/:exchange',
    allows: 'administrator',
    anyVhost: true,
    GET: getOne,
    PUT: putOne,
    DELETE: deleteOfExchange,
  },
  { path: '/vhosts/:vhost/topic-permissions', allows: 'administrator', GET: getOfVhost },
];
