import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { metered } from '../../../../../test/metrics/harness.js';
import { silentOutbox } from '../../engine/broker/index.js';
import { MetricsListener, type ReadingLimits } from './metrics-listener.js';

/** So many queues that a page is larger than what the sockets of this machine buffer. */
const manyQueues = 10_000;

describe('the port for metrics', () => {
  const sockets: Socket[] = [];
  let listener: MetricsListener;
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await listener.close();
  });

  const open = async (reading: ReadingLimits) => {
    const { broker, meter } = metered();
    const channel = broker.connect().openChannel(silentOutbox);
    for (let count = 0; count < manyQueues; count++) channel.declareQueue(`a-queue-with-a-longer-name-${count}`);
    listener = new MetricsListener(meter, { port: 0 }, undefined, reading);
    await listener.open();
  };
  /**
   * Begins to read the longest page.
   * @param every the milliseconds between two reads; undefined: the second one follows when `rest` is called
   */
  const readSlowly = async (every: number | undefined) => {
    const socket = connect(listener.port, '127.0.0.1');
    sockets.push(socket);
    let bytes = 0;
    let last = '';
    let isHurried = false;
    socket
      .on('error', () => undefined)
      .on('data', (part: Buffer) => {
        bytes += part.length;
        last = part.toString('latin1').slice(-5);
        if (isHurried) return;
        socket.pause();
        if (every !== undefined) setTimeout(() => socket.resume(), every);
      });
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.write('GET /metrics/per-object HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    await expect.poll(() => bytes).toBeGreaterThan(0);
    /** Reads to the end of the connection. */
    const rest = async () => {
      isHurried = true;
      socket.resume();
      await closed;
      return { bytes, isWhole: last === '0\r\n\r\n' };
    };
    return { closed, rest };
  };

  it.each([
    ['does not read at all', { piece: 2_000, page: 60_000 }, undefined],
    ['reads on, but too slowly', { piece: 60_000, page: 3_000 }, 200],
  ])('ends a page whose client %s, so that others get theirs', async (_, reading, every) => {
    await open(reading);
    const readers = await Promise.all([1, 2, 3, 4].map(() => readSlowly(every)));
    await expect.poll(() => listener.pages).toBe(0);
    for (const { rest } of readers) expect((await rest()).isWhole).toBe(false);
    const next = await readSlowly(undefined);
    expect((await next.rest()).bytes).toBeGreaterThan(0);
  });

  it('makes four pages at a time, and none faster than its client reads', async () => {
    await open({ piece: 60_000, page: 60_000 });
    const readers = await Promise.all([1, 2, 3, 4].map(() => readSlowly(undefined)));
    expect(listener.pages).toBe(4);
    const refused = await fetch(`http://127.0.0.1:${listener.port}/metrics`);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    for (const { rest } of readers) {
      const { bytes, isWhole } = await rest();
      expect([isWhole, bytes > manyQueues * 100]).toEqual([true, true]);
    }
    expect(listener.pages).toBe(0);
  });
});
