import { isUserLimit, type User } from '../../../engine/broker/index.js';
import { userLimitsIn } from '../../definitions/user-json.js';
import type { Row } from '../listing.js';
import { badRequest, noContent, notFound, type Problem } from '../../http/reply.js';
import type { Handler, Resource } from '../../http/resource.js';
import { wholeList } from '../whole-list.js';

const rowsOf = (users: readonly User[]): readonly Row[] =>
  users.flatMap(({ name, limits }) => (limits === undefined ? [] : [{ user: name, value: limits }]));

const noUser = (name: string): Problem => badRequest(['no_such_user', name]);

const getAll: Handler = (request, management) =>
  wholeList(request, management, rowsOf(management.broker.access.users()), ['user']);

const getOfUser: Handler = (request, management) => {
  const user = management.broker.access.user(request.name('user'));
  if (user === undefined) throw notFound();
  return wholeList(request, management, rowsOf([user]), ['user']);
};

const putOne: Handler = async ({ name, body }, { broker }) => {
  const { value } = await body('value');
  const limits = userLimitsIn({ [name('name')]: value });
  if (!broker.access.setUserLimits(name('user'), limits)) throw noUser(name('user'));
  return noContent;
};

/** Deletes one limit, or with `all` each of them. An unknown limit is no error. */
const deleteOne: Handler = ({ name }, { broker }) => {
  const [user, limit] = [name('user'), name('name')];
  if (broker.access.user(user) === undefined) throw noUser(user);
  if (limit === 'all') broker.access.clearUserLimits(user);
  else if (isUserLimit(limit)) broker.access.clearUserLimits(user, limit);
  return noContent;
};

export const userLimits: readonly Resource[] = [
  { path: '/user-limits', allows: 'management', GET: getAll },
  { path: '/user-limits/:user', allows: 'management', GET: getOfUser },
  {
    path: '/user-limits/:user/:name',
    allows: 'administrator',
    accepts: ['application/json'],
    PUT: putOne,
    DELETE: deleteOne,
  },
];
