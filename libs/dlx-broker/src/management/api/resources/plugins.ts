import { badRequest, ok } from '../../http/reply.js';
import type { Resource } from '../../http/resource.js';

/** There are neither plugins nor feature flags here: the lists are empty, and nothing can be switched on. */
export const plugins: readonly Resource[] = [
  { path: '/extensions', allows: 'management', GET: () => ok([]) },
  { path: '/feature-flags', allows: 'administrator', GET: () => ok([]) },
  {
    path: '/feature-flags/:name/enable',
    allows: 'administrator',
    accepts: ['application/json'],
    PUT: () => {
      throw badRequest('unsupported');
    },
  },
];
