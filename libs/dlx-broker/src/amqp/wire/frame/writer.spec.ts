import { describe, expect, it } from 'vitest';
import { FrameReader } from './reader.js';
import { BufferPool, FrameWriter, pooledSize, smallSize } from './writer.js';

function writing() {
  const pool = new BufferPool();
  const written: Buffer[] = [];
  const dones: (() => void)[] = [];
  let wanted = 0;
  const writer = new FrameWriter(pool, {
    write: (bytes, done) => {
      written.push(Buffer.from(bytes));
      if (done !== undefined) dones.push(done);
    },
    requestFlush: () => wanted++,
  });
  const frames = (): [number, number, Buffer][] => {
    const found: [number, number, Buffer][] = [];
    const reader = new FrameReader({
      frame: (type, channel, bytes, start, end) => {
        found.push([type, channel, Buffer.from(bytes.subarray(start, end))]);
        return true;
      },
    });
    reader.maxPayload = 10_000_000;
    reader.push(Buffer.concat(written));
    reader.run();
    return found;
  };
  return { pool, writer, written, dones, frames, wanted: () => wanted };
}

describe('frames are gathered', () => {
  it('until they are flushed, and asked for once', () => {
    const { writer, written, frames, wanted } = writing();
    for (let channel = 1; channel <= 100; channel++) {
      writer.begin(1, channel);
      writer.shortstr('é');
      writer.end();
    }
    expect(written).toEqual([]);
    writer.flush();
    expect(written).toHaveLength(1);
    expect(wanted()).toBe(1);
    expect(frames().map(([, channel]) => channel)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  });

  it('and leave when a buffer is full, none cut, whatever their sizes', () => {
    const { writer, frames } = writing();
    const bodies = [0, 1, 47, 48, 4_087, 4_088, 16_383, 16_384, 70_000, 200_000].map((size, index) =>
      Buffer.alloc(size, index + 1),
    );
    writer.maxPayload = 131_064;
    for (const body of bodies) for (let copy = 0; copy < 5; copy++) writer.body(3, body);
    writer.flush();
    const sent = bodies.flatMap((body) => Array.from({ length: 5 }, () => body));
    expect(Buffer.concat(frames().map(([, , payload]) => payload)).equals(Buffer.concat(sent))).toBe(true);
    for (const [, , payload] of frames()) expect(payload.length).toBeLessThanOrEqual(131_064);
  });

  it('also a frame that is larger than a buffer', () => {
    const { writer, frames } = writing();
    writer.begin(1, 1);
    writer.end();
    writer.begin(2, 1);
    const opened = writer.openLength();
    for (let count = 0; count < pooledSize; count++) writer.long(count);
    writer.closeLength(opened);
    writer.end();
    writer.flush();
    const [, large] = frames();
    expect(large?.[2].readUInt32BE(0)).toBe(pooledSize * 4);
    expect(large?.[2]).toHaveLength(pooledSize * 4 + 4);
  });

  it('in a small buffer while they are few: many connections may have one each', () => {
    const { pool, writer, written, frames } = writing();
    const [small, large] = [pool.take(1), pool.take(smallSize + 1)];
    pool.giveBack(small);
    pool.giveBack(large);
    writer.body(1, Buffer.alloc(100, 1));
    expect(pool.take(pooledSize)).toBe(large);
    writer.flush();
    expect(pool.take(1)).toBe(small);
    pool.giveBack(small);
    pool.giveBack(large);
    for (let channel = 1; channel <= 3; channel++) writer.body(channel, Buffer.alloc(1_500, channel));
    expect(pool.take(1)).toBe(small);
    writer.flush();
    expect(written.map(({ length }) => length)).toEqual([108, 4_524]);
    expect(
      frames()
        .slice(1)
        .map(([, channel, { length }]) => [channel, length]),
    ).toEqual([
      [1, 1_500],
      [2, 1_500],
      [3, 1_500],
    ]);
  });

  it('in buffers that are used again when the socket is done with them', () => {
    const { pool, writer, dones } = writing();
    const first = pool.take(pooledSize);
    pool.giveBack(first);
    writer.body(1, Buffer.alloc(10_000));
    writer.flush();
    const second = pool.take(pooledSize);
    expect(second).not.toBe(first);
    dones.forEach((done) => done());
    expect(pool.take(pooledSize)).toBe(first);
  });
});

it('a reply text that is too long is cut as RabbitMQ cuts it', () => {
  const { writer, frames } = writing();
  for (const text of ['x'.repeat(255), 'x'.repeat(256), 'é'.repeat(200)]) {
    writer.begin(1, 1);
    writer.shortstr(text);
    writer.end();
  }
  writer.flush();
  const [fits, long, strange] = frames().map(([, , payload]) => payload);
  expect(fits?.subarray(1).toString()).toBe('x'.repeat(255));
  expect(long?.subarray(1).toString()).toBe(`${'x'.repeat(252)}...`);
  expect(strange?.[0]).toBe(255);
  expect(strange?.subarray(-3).toString()).toBe('...');
});
