import type { Broker, UserPermissions } from '../../../engine/broker/index.js';
import { requiredText } from '../../http/body.js';
import { one, type Row } from '../listing.js';
import type { Management } from '../../management.js';
import { checkPatterns } from '../patterns.js';
import { badRequest, noContent, notFound, put } from '../../http/reply.js';
import type { JsonObject } from '../../http/json-object.js';
import type { Handler, Resource } from '../../http/resource.js';
import { wholeList } from '../whole-list.js';

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
export function checkUserAndVhost(broker: Broker, user: string, vhost: string): void {
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
