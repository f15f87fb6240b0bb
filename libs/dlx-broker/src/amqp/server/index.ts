export type { Alarm, MemoryUse } from '../../platform/alarms/index.js';
export type { TlsOptions } from './acceptor.js';
export { defaultLimits, type Limits } from './limits.js';
export { listen, Listener } from './listener.js';
export type { ListenOptions } from './listen-options.js';
