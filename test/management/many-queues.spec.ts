import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, openHouse } from './harness.js';
import { request } from './scene.js';

const count = 10_000;

/** Milliseconds of processor time that a page takes, asking for it included; of several tries the median. */
async function timeOf(harness: Harness, path: string): Promise<number> {
  const times: number[] = [];
  for (let tries = 0; tries < 9; tries++) {
    const start = process.cpuUsage();
    const { status } = await request(harness, 'GET', path);
    expect(status).toBe(200);
    const { user, system } = process.cpuUsage(start);
    times.push((user + system) / 1000);
  }
  return times.sort((one, other) => one - other)[4] as number;
}

describe('with ten thousand queues', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await openHouse();
    const channel = harness.broker.connect().openChannel({} as never);
    harness.broker.batch(() => {
      for (let n = 0; n < count; n++) {
        channel.declareQueue(`queue.${n}`, { durable: n % 2 === 0 });
        if (n % 7 === 0) channel.publish('', `queue.${n}`, {}, Buffer.alloc(n % 50));
      }
    });
    harness.sample();
  });
  afterAll(() => harness.close());

  // Measured: 14 to 37 ms. The bound is reached only by a page whose cost grows faster than its queues.
  it.each([
    'sort=messages&sort_reverse=true',
    'sort=name',
    'sort=message_stats.publish_details.rate',
    'name=99&use_regex=true',
  ])('a page of a hundred comes at once: %s', async (query) => {
    const time = await timeOf(harness, `/api/queues?page=1&page_size=100&${query}`);
    expect(time).toBeLessThan(1_000);
  });

  it('the page is the right one', async () => {
    const { text } = await request(
      harness,
      'GET',
      '/api/queues?page=2&page_size=100&sort=messages&sort_reverse=true&columns=name,messages',
    );
    const page = JSON.parse(text) as {
      readonly items: readonly { readonly messages: number }[];
      readonly total_count: number;
    };
    expect(page.total_count).toBe(count);
    expect(page.items).toHaveLength(100);
    expect(page.items.every(({ messages }) => messages === 1)).toBe(true);
  });

  it('all of them in one answer delay no other client', async () => {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const { text } = await request(harness, 'GET', '/api/queues');
    delay.disable();
    expect(JSON.parse(text)).toHaveLength(count);
    // Measured: 145 ms with eighteen others at work on two cores, where all in one go took 2 s.
    expect(delay.max / 1e6).toBeLessThan(1_000);
  });

  it('a sample of all of them is short', () => {
    const start = process.cpuUsage();
    harness.sample();
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1_000).toBeLessThan(2_000);
  });
});
