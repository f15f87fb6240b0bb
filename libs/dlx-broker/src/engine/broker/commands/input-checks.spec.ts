import { describe, expect, it } from 'vitest';
import { decodeText } from '../../message/index.js';
import { checkLength } from './checks.js';

describe('the length of a name', () => {
  it.each([
    ['ASCII', 'a'.repeat(255)],
    ['characters of two bytes', `${'é'.repeat(127)}a`],
    ['characters of four bytes', `${'🐇'.repeat(63)}abc`],
    ['bytes that are no UTF-8', decodeText(Buffer.alloc(255, 0xff), 0, 255)],
  ])('is counted in bytes as on the wire: %s', (_, name) => {
    expect(() => checkLength('routing key', name)).not.toThrow();
    expect(() => checkLength('routing key', `${name}a`)).toThrow(
      `routing key '${name.slice(0, 32)}...' is 256 bytes long, more than 255`,
    );
  });
});
