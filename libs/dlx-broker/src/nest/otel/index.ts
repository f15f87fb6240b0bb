export { loadApi } from './api.js';
export { dlxTracing } from './dlx-tracing.js';
export type { DlxTracingOptions } from './dlx-tracing.js';
