export { MemoryIdempotencyStore } from './memory-store.js';
export { type IoRedis, type NodeRedis, RedisIdempotencyStore } from './redis-store.js';
export { type IdempotencyStore, IdempotencyStoreError } from './store.js';
