import { describe, expect, it } from 'vitest';
import { FrameReader, readBuffer } from './reader.js';

type Seen = readonly [type: number, channel: number, payload: string];

function frame(type: number, channel: number, payload: string): Buffer {
  const head = Buffer.alloc(7);
  head.writeUInt8(type, 0);
  head.writeUInt16BE(channel, 1);
  head.writeUInt32BE(payload.length, 3);
  return Buffer.concat([head, Buffer.from(payload), Buffer.from([0xce])]);
}

/** @param takes true if the frame of a call is taken; default: all frames */
function reading(takes: (call: number) => boolean = () => true) {
  const seen: Seen[] = [];
  let calls = 0;
  const reader = new FrameReader({
    frame: (type, channel, bytes, start, end) => {
      if (!takes(calls++)) return false;
      seen.push([type, channel, bytes.toString('latin1', start, end)]);
      return true;
    },
  });
  return { reader, seen };
}

const three: readonly Seen[] = [
  [1, 7, 'method'],
  [3, 65_535, 'x'.repeat(3_000)],
  [8, 0, ''],
];
const bytes = Buffer.concat(three.map((one) => frame(...one)));

describe('a stream of bytes becomes the same frames (rule T6)', () => {
  it.each([1, 2, 3, 7, 8, 9, 100, 2_999, bytes.length])('in pieces of %i bytes', (size) => {
    const { reader, seen } = reading();
    for (let at = 0; at < bytes.length; at += size) {
      reader.push(bytes.subarray(at, at + size));
      reader.run();
    }
    expect(seen).toEqual(three);
  });

  it.each([1, 5, 1_000, bytes.length])('when every frame is refused once, in pieces of %i bytes', (size) => {
    const { reader, seen } = reading((call) => call % 2 === 1);
    for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
    for (let run = 0; run < 10; run++) reader.run();
    expect(seen).toEqual(three);
    expect(reader.hasMore).toBe(false);
  });

  it.each([8, 100, bytes.length])(
    'from the common buffer, when every frame is refused once, in pieces of %i bytes',
    (size) => {
      const { reader, seen } = reading((call) => call % 2 === 1);
      for (let at = 0; at < bytes.length; at += size) {
        const length = bytes.copy(readBuffer, 0, at, at + size);
        reader.push(readBuffer.subarray(0, length));
        reader.run();
        reader.keep();
        readBuffer.fill(0);
      }
      for (let run = 0; run < 10; run++) reader.run();
      expect(seen).toEqual(three);
    },
  );

  it('from the common buffer, when chunks wait behind one that is not read yet', () => {
    const { reader, seen } = reading((call) => call > 0);
    for (let at = 0; at < bytes.length; at += 100) {
      const length = bytes.copy(readBuffer, 0, at, at + 100);
      reader.push(readBuffer.subarray(0, length));
      if (at === 0) reader.run();
      reader.keep();
      readBuffer.fill(0);
    }
    expect(reader.waiting).toBe(bytes.length);
    reader.run();
    expect(seen).toEqual(three);
  });

  it('when it is paused after every frame, and the next one begins in the same chunk and ends in another', () => {
    const firstEnd = frame(...three[0]!).length;
    const { reader, seen } = reading(() => {
      reader.pause();
      return true;
    });
    reader.push(bytes.subarray(0, firstEnd + 3));
    reader.push(bytes.subarray(firstEnd + 3));
    for (let frames = 1; frames <= three.length; frames++) {
      reader.run();
      expect(seen).toEqual(three.slice(0, frames));
    }
  });

  it('when it is paused after every frame', () => {
    const { reader, seen } = reading(() => {
      reader.pause();
      return true;
    });
    reader.push(bytes);
    for (const count of [1, 2, 3]) {
      reader.run();
      expect(seen).toHaveLength(count);
    }
  });
});

describe('what is no frame ends the reading (rule T5)', () => {
  it('by its end octet', () => {
    const { reader } = reading();
    const broken = frame(1, 1, 'abc');
    broken[broken.length - 1] = 0;
    reader.push(broken);
    expect(() => reader.run()).toThrow('FRAME_ERROR - type 1, all octets = <<"abc">>: {invalid_frame_end_marker,0}');
    expect(reader.isBroken).toBe(true);
  });

  it('by its size, which for a content header may be another one', () => {
    const { reader, seen } = reading();
    reader.maxPayload = 100;
    reader.maxHeader = 200;
    for (const piece of [frame(2, 1, 'x'.repeat(200)), frame(2, 1, 'y'.repeat(201)).subarray(0, 7)]) reader.push(piece);
    expect(() => reader.run()).toThrow('FRAME_ERROR - type 2, all octets = <<>>: {frame_too_large,201,100}');
    expect(seen).toEqual([[2, 1, 'x'.repeat(200)]]);
    const other = reading();
    other.reader.maxHeader = 20_000;
    other.reader.push(frame(3, 1, 'x'.repeat(20_000)).subarray(0, 7));
    expect(() => other.reader.run()).toThrow('{frame_too_large,20000,4088}');
  });

  it('by its size, before its payload has come', () => {
    for (const size of [1, 7]) {
      const { reader } = reading();
      reader.maxPayload = 100;
      const head = frame(3, 1, 'x'.repeat(109)).subarray(0, 7);
      reader.push(head.subarray(0, size));
      reader.push(head.subarray(size));
      expect(() => reader.run()).toThrow('FRAME_ERROR - type 3, all octets = <<>>: {frame_too_large,109,100}');
    }
  });
});
