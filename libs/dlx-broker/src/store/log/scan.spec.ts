import { afterEach, describe, expect, it, vi } from 'vitest';
import { Batch } from './batch.js';
import { scan } from './scan.js';
import { formatVersion, segmentHead, writeHeader } from './segment-header.js';
import { Segment } from './segment.js';

const header = { number: 1, salt: 7, version: formatVersion };

/** A segment with this many batches. */
function segmentOf(batches: number): Buffer {
  const segment = new Segment(header, undefined as never);
  const parts: Uint8Array[] = [writeHeader(header)];
  for (let left = batches; left > 0; left--) {
    const batch = new Batch();
    batch.begin(segment);
    batch.checkpoint();
    batch.commit(1_700_000_000_000);
    segment.end += batch.length;
    parts.push(...batch.chunks());
  }
  return Buffer.concat(parts);
}

afterEach(() => vi.restoreAllMocks());

describe('a segment that is longer in advance', () => {
  const blank = Buffer.alloc(1_000_000);

  it('ends with its last record', () => {
    const bytes = segmentOf(3);
    const found = scan(Buffer.concat([bytes, blank]), header.salt);
    expect(found).toMatchObject({ gaps: [], end: bytes.length });
    expect(found.records).toHaveLength(6);
    expect(scan(Buffer.concat([writeHeader(header), blank]), header.salt)).toMatchObject({
      gaps: [],
      end: segmentHead,
    });
  });

  it('is not looked through behind a record that was not written to its end', () => {
    const whole = segmentOf(3);
    const torn = whole.subarray(0, whole.length - 12);
    const looks = vi.spyOn(Buffer.prototype, 'readUInt32BE');
    const found = scan(Buffer.concat([torn, blank]), header.salt);
    expect(found.records).toHaveLength(5);
    expect(looks.mock.calls.length).toBeLessThan(10_000);
  });
});
