import { AmqpError, type Broker } from '../../../engine/broker/index.js';
import { userOfJson, userToJson } from '../../definitions/user-json.js';
import type { JsonObject } from '../../http/body.js';
import { badRequest, noContent, notFound, put } from '../../http/reply.js';
import type { Handler, Resource } from '../../http/resource.js';
import { one, wholeList } from '../lists.js';
import { permissionRows, setPermissions, topicPermissionRows } from './permissions.js';

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

const getPermissions: Handler = (request, management) => {
  const user = request.name('user');
  if (management.broker.access.user(user) === undefined) throw notFound();
  const rows = permissionRows(management.broker).filter((row) => row.user === user);
  return wholeList(request, management, rows, ['vhost', 'user']);
};

const getTopicPermissions: Handler = (request, management) => {
  const user = request.name('user');
  if (management.broker.access.user(user) === undefined) throw notFound();
  const rows = topicPermissionRows(management.broker).filter((row) => row.user === user);
  return wholeList(request, management, rows, ['vhost', 'user', 'exchange']);
};

export const users: readonly Resource[] = [
  { path: '/users', allows: 'administrator', GET: getAll },
  { path: '/users/bulk-delete', allows: 'administrator', POST: bulkDelete },
  { path: '/users/without-permissions', allows: 'administrator', GET: getWithoutPermissions },
  { path: '/users/:user', allows: 'administrator', GET: getOne, PUT: putOne, DELETE: deleteOne },
  { path: '/users/:user/permissions', allows: 'administrator', GET: getPermissions },
  { path: '/users/:user/topic-permissions', allows: 'administrator', GET: getTopicPermissions },
];
