export type { Alarm } from './alarms.js';
export type { TlsOptions } from './door.js';
export { defaultLimits, type Limits } from './limits.js';
export { listen, Listener, type ListenOptions } from './listener.js';
export type { MemoryUse } from './memory-alarm.js';
