import type { Claim, IdempotencyStore } from './store.js';

/** What is needed of a client of the package `ioredis`, alone or of a cluster. */
export interface IoRedis {
  call(command: string, ...args: string[]): Promise<unknown>;
}

/** What is needed of a client of the package `redis` (or `@redis/client`): one that is connected. */
export interface NodeRedis {
  sendCommand(command: string[]): Promise<unknown>;
}

const finished = 'done';

/**
 * Only the owner of the claim releases it: the claim may have expired, and belong to another owner or be done by now.
 */
const releaseOwn = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

/**
 * A store in Redis, for handlers of one queue in several processes. Claims are atomic (`SET NX PX`), and Redis itself
 * forgets what is over. It needs the commands SET, GET and EVAL. The client is the user's, who closes it.
 */
export class RedisIdempotencyStore implements IdempotencyStore {
  readonly #ask: (...command: string[]) => Promise<unknown>;

  /** @param prefix of all keys */
  constructor(
    redis: IoRedis | NodeRedis,
    private readonly prefix = 'dlx-broker:idempotency:',
  ) {
    // Clients of ioredis have a sendCommand as well, which takes something else.
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
