import { describe, expect, it } from 'vitest';
import { bytesOfBase64 } from './base64.js';

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

  it('takes as long for text full of spaces as for text of the same length without', () => {
    const length = 4_000_000;
    const [plain, spaced] = ['AA'.repeat(length / 2), ' A'.repeat(length / 2)].map((text) =>
      Buffer.from(text).toString(),
    );
    const timeOf = (text: string): number => {
      const before = process.cpuUsage();
      for (let times = 0; times < 3; times++) bytesOfBase64(text);
      return process.cpuUsage(before).user;
    };
    timeOf(plain!);
    expect(timeOf(spaced!)).toBeLessThan(8 * timeOf(plain!) + 20_000);
  });
});
