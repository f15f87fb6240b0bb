import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { SystemClock } from '../../libs/dlx-broker/src/platform/index.js';
import { openBroker } from '../../libs/dlx-broker/src/server/serve/open-broker.js';
import { listen } from '../harnesses/listener.js';

const folder = mkdtempSync(join(tmpdir(), 'opening-turns-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A clock that knows in which turns of the event loop it was read. */
class TurnClock extends SystemClock {
  readonly turns = new Set<number>();
  #turn = 0;
  #next = setImmediate(() => this.#count());

  override now(): number {
    this.turns.add(this.#turn);
    return super.now();
  }

  stop(): void {
    clearImmediate(this.#next);
  }

  #count(): void {
    this.#turn++;
    this.#next = setImmediate(() => this.#count());
  }
}

it('a broker puts the messages of a data directory back in many turns of the event loop', async () => {
  const data = { directory: folder, durability: 'none', diskFree: 0 } as const;
  const before = await openBroker({ data }, {});
  const { channel } = listen(before.broker);
  channel.declareQueue('q', { durable: true });
  for (let n = 0; n < 20_000; n++) channel.publish('', 'q', { deliveryMode: 2 }, Buffer.from(`${n}`));
  await before.close();
  const clock = new TurnClock();
  const { broker, close } = await openBroker({ data, clock }, {});
  clock.stop();
  expect(broker.virtualHost('/').queues.get('q')?.length).toBe(20_000);
  // The messages that are put back in one turn get one time.
  expect(clock.turns.size).toBeGreaterThan(15);
  await close();
});
