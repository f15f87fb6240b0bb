export { defaultLimits, type Limits } from './limits.js';
export { listen, Listener, type ListenOptions, type TlsOptions } from './listener.js';
export type { MemoryUse } from './watermark.js';
