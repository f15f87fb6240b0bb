import type { Claim, IdempotencyStore } from './store.js';

/** The used methods of a client of the package `ioredis`, of one server or of a cluster. */
export interface IoRedis {
  call(command: string, ...args: string[]): Promise<unknown>;
}

/** The used methods of a connected client of the package `redis` (or `@redis/client`). */
export interface NodeRedis {
  sendCommand(command: string[]): Promise<unknown>;
}

const finished = 'done';

/**
 * Releases a claim if it still belongs to the owner. It may have expired, and another owner may have the key, or be done with it.
 */
const releaseOwn = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

/**
 * A store in Redis, for handlers of one queue in several processes. Claims are atomic (`SET NX PX`), and Redis itself
 * removes expired keys. It needs the commands SET, GET and EVAL. The application closes the client.
 */
export class RedisIdempotencyStore implements IdempotencyStore {
  readonly #ask: (...command: string[]) => Promise<unknown>;

  /** @param prefix of all keys */
  constructor(
    redis: IoRedis | NodeRedis,
    private readonly prefix = 'dlx-broker:idempotency:',
  ) {
    // Clients of ioredis have a sendCommand as well, with other parameters.
    this.#ask =
      'call' in redis
        ? (command = '', ...args) => redis.call(command, ...args)
        : (...command) => redis.sendCommand(command);
  }

  async claim(key: string, lease: number, owner: string): Promise<Claim> {
    const name = this.prefix + key;
    const claimed = await this.#ask('SET', name, claimOf(owner), 'PX', String(lease), 'NX');
    if (claimed !== null) return 'claimed';
    return (await this.#ask('GET', name)) === finished ? 'done' : 'busy';
  }

  async done(key: string, ttl: number): Promise<void> {
    await this.#ask('SET', this.prefix + key, finished, 'PX', String(ttl));
  }

  async release(key: string, owner: string): Promise<void> {
    await this.#ask('EVAL', releaseOwn, '1', this.prefix + key, claimOf(owner));
  }
}

const claimOf = (owner: string): string => `busy ${owner}`;
