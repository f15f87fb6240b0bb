import { product } from '../../engine/broker/index.js';
import { isOf } from '../http/auth.js';
import { ok } from '../http/reply.js';
import type { Resource } from '../http/resource.js';

/** What the console can do for a user. */
export const capabilities: readonly Resource[] = [
  {
    path: '/dlx/capabilities',
    allows: 'management',
    GET: ({ user }, { edits }) =>
      ok({ product: product.name, version: product.version, edits: edits && isOf('editor', user) }),
  },
];
