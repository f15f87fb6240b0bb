import { ok } from '../../http/reply.js';
import type { Resource } from '../../http/resource.js';

export const whoami: readonly Resource[] = [
  { path: '/whoami', allows: 'management', GET: ({ user }) => ok({ name: user.name, tags: user.tags }) },
];
