export { loadApi } from './api.js';
export { dlxTracing } from './dlx-tracing.js';
export type { DlxTracingOptions } from './options.js';
