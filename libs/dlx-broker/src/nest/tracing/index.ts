export * from './port.js';
export { type SafeProcess, SafeTracing } from './safe-tracing.js';
