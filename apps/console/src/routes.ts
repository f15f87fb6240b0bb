import type { FunctionComponent } from 'preact';
import type { Address } from './router';

/** A page of the console. `title` is undefined for pages that no menu lists. */
export interface Route {
  /** The first segment of the address. */
  readonly name: string;
  readonly title?: string;
  /** The key after `g` that opens the page. */
  readonly key?: string;
  /** The page is shown for addresses with so many segments after the name. */
  readonly segments: readonly number[];
  readonly load: () => Promise<{ readonly default: FunctionComponent<{ address: Address }> }>;
}

/** All pages, in the order of the menu. Another page is one row here and one file in `pages/`. */
export const routes: readonly Route[] = [
  { name: '', title: 'Overview', key: 'o', segments: [0], load: () => import('./pages/overview') },
  { name: 'dead-letters', title: 'Dead letters', key: 'd', segments: [0], load: () => import('./pages/dead-letters') },
  { name: 'dead-letters', segments: [3], load: () => import('./pages/message') },
  { name: 'queues', title: 'Queues', key: 'q', segments: [0], load: () => import('./pages/queues') },
  { name: 'queues', segments: [2], load: () => import('./pages/queue') },
  { name: 'topology', title: 'Topology', key: 't', segments: [0], load: () => import('./pages/topology') },
  { name: 'redrives', title: 'Redrives', key: 'r', segments: [0, 1], load: () => import('./pages/redrives') },
  { name: 'audit', title: 'Audit', key: 'a', segments: [0], load: () => import('./pages/audit') },
  { name: 'policies', title: 'Policies', key: 'p', segments: [0], load: () => import('./pages/policies') },
  { name: 'users', title: 'Users', key: 'u', segments: [0], load: () => import('./pages/users') },
  { name: 'connections', title: 'Connections', key: 'c', segments: [0], load: () => import('./pages/connections') },
];

/** The page of an address. */
export function routeOf({ segments }: Address): Route | undefined {
  const [name = '', ...rest] = segments;
  return routes.find((route) => route.name === name && route.segments.includes(rest.length));
}
