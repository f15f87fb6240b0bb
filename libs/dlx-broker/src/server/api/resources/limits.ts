import {
  erlangJson,
  isUserLimit,
  type LimitName,
  limitNames,
  type User,
  type VirtualHost,
} from '../../../engine/broker/index.js';
import { userLimitsIn } from '../../definitions/user-json.js';
import type { JsonObject } from '../../http/body.js';
import { badRequest, noContent, notFound, type Problem } from '../../http/reply.js';
import type { Handler, Resource } from '../../http/resource.js';
import { type Row, wholeList } from '../lists.js';

export const limitsOf = (vhost: VirtualHost): Row => Object.fromEntries(vhost.limits.list());

const rowsOf = (vhosts: readonly VirtualHost[]): readonly Row[] =>
  vhosts.filter(({ limits }) => limits.list().size > 0).map((vhost) => ({ vhost: vhost.name, value: limitsOf(vhost) }));

const isLimit = (name: string): name is LimitName => (limitNames as readonly string[]).includes(name);

/**
 * Sets limits: all of them, or none if one is invalid.
 * @param refusal makes an error of RabbitMQ's text
 * @throws Problem
 */
export function setLimits(vhost: VirtualHost, limits: JsonObject, refusal: (reason: string) => Problem): void {
  for (const [name, value] of Object.entries(limits)) {
    const wrong = isLimit(name)
      ? `${name} should be a number, actually was ${erlangJson(value)}`
      : `Unrecognised terms [{${erlangJson(name)},${erlangJson(value)}}] in limits`;
    if (!isLimit(name) || !Number.isSafeInteger(value)) throw refusal(`Validation failed\n\n${wrong}\n`);
  }
  for (const [name, value] of Object.entries(limits)) vhost.limits.set(name as LimitName, value as number);
}

/** @returns false if there were no limits */
export function clearLimits({ limits }: VirtualHost): boolean {
  return limitNames.map((name) => limits.delete(name)).includes(true);
}

const putOne: Handler = async ({ name, body }, management) => {
  const { value } = await body('value');
  setLimits(management.vhost(name('vhost')), { [name('name')]: value }, badRequest);
  return noContent;
};

const deleteOne: Handler = ({ name }, management) => {
  const limit = name('name');
  if (isLimit(limit)) management.vhost(name('vhost')).limits.delete(limit);
  return noContent;
};

export const vhostLimits: readonly Resource[] = [
  {
    path: '/vhost-limits',
    allows: 'management',
    GET: (request, management) => wholeList(request, management, rowsOf(management.vhostsOf(request.user)), ['vhost']),
  },
  {
    path: '/vhost-limits/:vhost',
    allows: 'management',
    visibleVhost: true,
    GET: (request, management) =>
      wholeList(request, management, rowsOf([management.vhost(request.name('vhost'))]), ['vhost']),
  },
  {
    path: '/vhost-limits/:vhost/:name',
    allows: 'administrator',
    accepts: ['application/json'],
    PUT: putOne,
    DELETE: deleteOne,
  },
];

const userRowsOf = (users: readonly User[]): readonly Row[] =>
  users.flatMap(({ name, limits }) => (limits === undefined ? [] : [{ user: name, value: limits }]));

const noUser = (name: string): Problem => badRequest(['no_such_user', name]);

const getAllOfUsers: Handler = (request, management) =>
  wholeList(request, management, userRowsOf(management.broker.access.users()), ['user']);

const getOfUser: Handler = (request, management) => {
  const user = management.broker.access.user(request.name('user'));
  if (user === undefined) throw notFound();
  return wholeList(request, management, userRowsOf([user]), ['user']);
};

const putOfUser: Handler = async ({ name, body }, { broker }) => {
  const { value } = await body('value');
  const limits = userLimitsIn({ [name('name')]: value });
  if (!broker.access.setUserLimits(name('user'), limits)) throw noUser(name('user'));
  return noContent;
};

/** Deletes one limit, or with `all` each of them. An unknown limit is no error. */
const deleteOfUser: Handler = ({ name }, { broker }) => {
  const [user, limit] = [name('user'), name('name')];
  if (broker.access.user(user) === undefined) throw noUser(user);
  if (limit === 'all') broker.access.clearUserLimits(user);
  else if (isUserLimit(limit)) broker.access.clearUserLimits(user, limit);
  return noContent;
};

export const userLimits: readonly Resource[] = [
  { path: '/user-limits', allows: 'management', GET: getAllOfUsers },
  { path: '/user-limits/:user', allows: 'management', GET: getOfUser },
  {
    path: '/user-limits/:user/:name',
    allows: 'administrator',
    accepts: ['application/json'],
    PUT: putOfUser,
    DELETE: deleteOfUser,
  },
];
