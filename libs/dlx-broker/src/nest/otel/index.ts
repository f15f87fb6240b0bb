export { dlxTracing, type DlxTracingOptions } from './dlx-tracing.js';
