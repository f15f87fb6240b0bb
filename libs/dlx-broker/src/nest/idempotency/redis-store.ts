import type { Claim, IdempotencyStore } from './store.js';

/** What it needs of a Redis client: the methods of `ioredis`, which is not a dependency of this library. */
export interface RedisCommands {
  set(key: string, value: string, px: 'PX', milliseconds: number): Promise<unknown>;
  set(key: string, value: string, px: 'PX', milliseconds: number, nx: 'NX'): Promise<unknown>;
  get(key: string): Promise<string | null>;
  del(key: string): Promise<unknown>;
}

/** Remembers in Redis: for handlers of one queue in several processes. Claims are atomic (SET NX). */
export class RedisIdempotencyStore implements IdempotencyStore {
  /** @param prefix of all keys */
  constructor(
    private readonly redis: RedisCommands,
    private readonly prefix = 'dlx-broker:idempotency:',
  ) {}

  async claim(key: string, lease: number): Promise<Claim> {
    const name = this.prefix + key;
    if ((await this.redis.set(name, 'busy', 'PX', lease, 'NX')) !== null) return 'claimed';
    return (await this.redis.get(name)) === 'done' ? 'done' : 'busy';
  }

  async done(key: string, ttl: number): Promise<void> {
    await this.redis.set(this.prefix + key, 'done', 'PX', ttl);
  }

  async release(key: string): Promise<void> {
    await this.redis.del(this.prefix + key);
  }
}
