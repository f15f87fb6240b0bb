export type { Alarm, MemoryUse } from '../alarms/index.js';
export type { TlsOptions } from './acceptor.js';
export { defaultLimits, type Limits } from './limits.js';
export { listen, Listener, type ListenOptions } from './listener.js';
