import { handlerFamilies } from './dlx/handler-families.js';
import type { Family } from './family.js';
import { aggregated } from './pages.js';

/** Every metric of `/metrics`. */
export const metricTable: readonly Family[] = [...aggregated, ...handlerFamilies];
