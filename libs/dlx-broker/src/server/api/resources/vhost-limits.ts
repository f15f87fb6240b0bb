import { erlangJson, type LimitName, limitNames, type VirtualHost } from '../../../engine/broker/index.js';
import type { Row } from '../listing.js';
import { badRequest, noContent, type Problem } from '../../http/reply.js';
import type { JsonObject } from '../../http/json-object.js';
import type { Handler, Resource } from '../../http/resource.js';
import { wholeList } from '../whole-list.js';

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
