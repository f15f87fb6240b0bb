import { afterAll, beforeAll } from 'vitest';
import type { ListenOptions } from '../../libs/dlx-broker/src/amqp/server/index.js';
import type { WireOptions } from '../contract/wire/connection.js';
import { type AmqpHouse, amqpHouse } from './harness.js';

/** The listener under test, and a real broker if there is one: what holds of the one must hold of the other. */
export class Brokers {
  #harness: AmqpHouse | undefined;

  /** Opens and closes with the tests of the file. */
  constructor(options: ListenOptions = {}) {
    beforeAll(async () => void (this.#harness = await amqpHouse(options)));
    afterAll(() => this.#harness?.close());
  }

  get ours(): AmqpHouse {
    return this.#harness as AmqpHouse;
  }

  get all(): readonly WireOptions[] {
    const real = process.env['AMQP_URL'];
    if (real === undefined) return [this.ours.wire];
    const { hostname: host, port } = new URL(real);
    return [this.ours.wire, { ...this.ours.wire, host, port: Number(port) || 5672 }];
  }

  /** Each in turn. @returns what it came to on each */
  async each<T>(act: (wire: WireOptions) => Promise<T>): Promise<T[]> {
    const results: T[] = [];
    for (const wire of this.all) results.push(await act(wire));
    return results;
  }

  /** So many times the same, for {@link each}. */
  same<T>(expected: T): T[] {
    return this.all.map(() => expected);
  }
}
