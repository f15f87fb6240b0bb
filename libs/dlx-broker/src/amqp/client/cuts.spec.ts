import { describe, expect, it } from 'vitest';
import { LinkedServer, settled } from '../../../../../test/harnesses/amqp-link.js';
import { recorded } from '../../../../../test/harnesses/linked-client.js';
import { openPublisher } from './publisher.js';

const published = 6;

/** What came of a session whose socket was closed after this many bytes. */
interface Outcome {
  readonly bytes: number;
  /** How often each callback was called: open, declare, ready, publishes, and the three ends. */
  readonly calls: readonly number[];
  readonly confirmed: readonly string[];
  readonly kept: readonly string[];
  readonly faults: readonly unknown[];
}

/** Connects, declares a queue, and publishes; then the socket is closed if it was not closed before. */
async function session(bytes: number): Promise<Outcome> {
  const server = new LinkedServer();
  const link = server.link();
  link.bytesLeft = bytes;
  const calls = Array.from({ length: published + 5 }, () => 0);
  const called = (index: number) => (): void => void (calls[index] = (calls[index] as number) + 1);
  const confirmed: string[] = [];
  const { connection, faults } = recorded(link, server.runtime, {}, { closed: called(published + 4) });
  await settled(link);
  const channel = connection.openChannel({ closed: called(published) }, called(published + 1));
  channel.declareQueue('q', {}, called(published + 2));
  await settled(link);
  const publisher = openPublisher(connection, { closed: called(published + 3) });
  for (let index = 0; index < published; index++) {
    publisher.publish('', 'q', {}, Buffer.from(`${index}`), true, (failure) => {
      called(index)();
      if (failure === undefined) confirmed.push(`${index}`);
    });
  }
  await settled(link);
  link.cut();
  await settled(link);
  const queue = server.broker.virtualHosts.get('/')?.queues.get('q');
  const kept =
    queue === undefined
      ? []
      : queue.browse({ limit: published }).entries.map(({ message }) => Buffer.from(message.body).toString());
  expect(server.clock.nextWakeUp()).toBeUndefined();
  return { bytes: bytes - link.bytesLeft, calls, confirmed, kept, faults };
}

describe('a socket that is closed in the middle', () => {
  it('of any byte of a session: every callback is called once, and what was confirmed is kept', async () => {
    const whole = await session(1_000_000);
    expect(whole.confirmed).toHaveLength(published);
    expect(whole.kept).toHaveLength(published);
    const seen = new Set<number>();
    for (let bytes = 0; bytes <= whole.bytes; bytes += 3) {
      const { calls, confirmed, kept, faults } = await session(bytes);
      expect(calls, `cut after ${bytes} bytes`).toEqual(calls.map(() => 1));
      expect(kept).toEqual(expect.arrayContaining([...confirmed]));
      expect(faults).toEqual([]);
      seen.add(kept.length);
    }
    // Some cuts are between a publish and its confirm.
    expect(seen.size).toBeGreaterThan(1);
  }, 60_000);
});
