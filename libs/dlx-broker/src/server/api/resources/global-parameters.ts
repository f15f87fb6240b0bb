import { type Audience, checkAudience } from '../../http/auth.js';
import { textIn } from '../../http/body.js';
import { one } from '../listing.js';
import { badRequest, noContent, notFound, ok, put } from '../../http/reply.js';
import type { ApiRequest, Resource } from '../../http/resource.js';
import { wholeList } from '../whole-list.js';

/** Parameters that have a path of their own as well, and who may change them on both paths (rule V7). */
const changedBy: ReadonlyMap<string, Audience> = new Map([
  ['cluster_name', 'administrator'],
  ['internal_cluster_id', 'administrator'],
]);

/** @throws Problem 401 */
const checkChange = ({ name, user }: ApiRequest): void =>
  checkAudience(user, changedBy.get(name('name')) ?? 'policymaker');

export const globalParameters: readonly Resource[] = [
  {
    path: '/global-parameters',
    allows: 'policymaker',
    GET: (request, management) => wholeList(request, management, [...management.broker.parameters.list()], ['name']),
  },
  {
    path: '/global-parameters/:name',
    allows: 'policymaker',
    GET: (request, { broker }) => {
      const name = request.name('name');
      if (!broker.parameters.has(name)) throw notFound();
      return one(request, { value: broker.parameters.get(name), name });
    },
    PUT: async (request, { broker }) => {
      const { name, body } = request;
      checkChange(request);
      const { value } = await body('value');
      return put(broker.parameters.set(name('name'), value));
    },
    DELETE: (request, { broker }) => {
      const { name } = request;
      checkChange(request);
      if (!broker.parameters.delete(name('name'))) throw notFound();
      return noContent;
    },
  },
  {
    path: '/cluster-name',
    allows: 'management',
    allowsChange: 'administrator',
    GET: (_, management) => ok({ name: management.clusterName }),
    PUT: async ({ body }, { broker }) => {
      const name = textIn(await body('name'), 'name');
      if (name === undefined || name === '') throw badRequest('name should be a string');
      broker.parameters.set('cluster_name', name);
      return noContent;
    },
  },
];
