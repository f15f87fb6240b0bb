export { MemoryIdempotencyStore } from './memory-store.js';
export { RedisIdempotencyStore, type RedisCommands } from './redis-store.js';
export type { Claim, IdempotencyStore } from './store.js';
