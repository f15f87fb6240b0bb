import { ok } from '../../http/reply.js';
import type { Resource } from '../../http/resource.js';

export const whoami: readonly Resource[] = [
  { path: '/whoami', allows: 'management', GET: ({ user }) => ok({ name: user.name, tags: user.tags }) },
  {
    path: '/login',
    allows: 'management',
    accepts: ['application/x-www-form-urlencoded'],
    hasLoginForm: true,
    POST: () => ok('ok'),
  },
];
