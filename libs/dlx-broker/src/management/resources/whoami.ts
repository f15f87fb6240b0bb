import { ok } from '../reply.js';
import type { Resource } from '../resource.js';

export const whoami: readonly Resource[] = [
  { path: '/whoami', allows: 'management', GET: ({ user }) => ok({ name: user.name, tags: user.tags }) },
];
