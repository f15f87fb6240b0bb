import { badRequest, ok } from '../../http/reply.js';
import type { Resource } from '../../http/resource.js';

/** This broker has neither plugins nor feature flags: the lists are empty, and enabling a flag is refused. */
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
