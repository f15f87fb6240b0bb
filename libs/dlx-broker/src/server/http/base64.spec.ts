import { describe, expect, it } from 'vitest';
import { bytesOfBase64 } from './body.js';

describe('base64', () => {
  it.each([
    ['', ''],
    ['YQ==', 'a'],
    ['YWI=', 'ab'],
    [' Y\tW\r\nJj\n', 'abc'],
  ])('%j is %j', (text, bytes) => {
    expect(Buffer.from(bytesOfBase64(text)!).toString()).toBe(bytes);
  });

  it.each(['Y', 'YQ=', 'YQ===', '====', 'Y=Q=', 'YQ==YQ==', 'YQ-_', 'YW\u0161j', 'Y Q', 'YQ!='])(
    '%j is none',
    (text) => {
      expect(bytesOfBase64(text)).toBeUndefined();
    },
  );

  it('takes text of two million single spaces', () => {
    const bytes = bytesOfBase64(' A'.repeat(2_000_000));
    expect(bytes).toHaveLength(1_500_000);
    expect(bytes!.every((byte) => byte === 0)).toBe(true);
  });
});
