export { type Authenticate, hashPassword, type Login, verifyPassword } from './authenticate.js';
export { defaultLimits, type Limits } from './limits.js';
export { listen, Listener, type ListenOptions, type TlsOptions } from './listener.js';
export type { MemoryUse } from './watermark.js';
export { guestOf, letIn, type ServedUser } from './users.js';
