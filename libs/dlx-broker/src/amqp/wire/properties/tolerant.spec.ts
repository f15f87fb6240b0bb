import { describe, expect, it } from 'vitest';
import { ByteWriter } from '../../../engine/message/index.js';
import { readTolerantly, UndecodableProperties } from './received.js';

/** A table of one table of one table ... */
function nested(depth: number): Buffer {
  let table = Buffer.alloc(4);
  for (let level = 1; level < depth; level++) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(table.length + 3);
    table = Buffer.concat([length, Buffer.from([1, 0x61, 0x46]), table]);
  }
  return table;
}

/** Content type, headers and message id. */
function properties(headers: Uint8Array): Buffer {
  const to = new ByteWriter(Buffer.alloc(0));
  to.short(0x8000 | 0x2000 | 0x0080);
  to.shortstr('text/plain');
  to.raw(headers, 0, headers.length);
  to.shortstr('m1');
  return to.written;
}

describe('properties of a foreign message', () => {
  it.each([
    ['nested 5,000 deep', nested(5_000)],
    ['of an unknown type', Buffer.from([0, 0, 0, 3, 1, 0x61, 0x5a])],
  ])('keep their bytes and all but the headers, with headers %s', (_, headers) => {
    const bytes = properties(headers);
    const read = readTolerantly(Buffer.from(bytes));
    expect(read).toBeInstanceOf(UndecodableProperties);
    expect(read.headers).toBeUndefined();
    expect([read.contentType, read.messageId]).toEqual(['text/plain', 'm1']);
    expect(UndecodableProperties.sentBytesOf(read)).toEqual(bytes);
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['half a text', Buffer.from([0x80, 0, 9, 0x61])],
    ['a table that is longer than all', Buffer.from([0x20, 0, 0xff, 0xff, 0xff, 0xff])],
  ])('keep their bytes when they are %s', (_, bytes) => {
    const read = readTolerantly(Buffer.from(bytes));
    expect(Object.values(read).every((value) => value === undefined)).toBe(true);
    expect(UndecodableProperties.sentBytesOf(read)).toEqual(bytes);
  });

  it('are read as ever when they are in order', () => {
    const bytes = properties(Buffer.from([0, 0, 0, 4, 1, 0x61, 0x62, 0xff]));
    const read = readTolerantly(Buffer.from(bytes));
    expect(read).not.toBeInstanceOf(UndecodableProperties);
    expect(read.headers?.get('a')).toEqual({ type: 'b', value: -1 });
    expect(UndecodableProperties.sentBytesOf(read)).toEqual(bytes);
  });
});
