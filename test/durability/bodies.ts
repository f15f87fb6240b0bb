import { Random } from '../fuzz/random.js';

/** The name of a message determines its body, so that a test can check one by the other. */
export const messageIdOf = (number: number, size: number): string => `${number}/${size}`;

/** Random bytes, so that no part of a body equals another one. */
export function bodyOf(messageId: string): Buffer {
  const [number, size] = messageId.split('/').map(Number) as [number, number];
  const random = new Random(number);
  const body = Buffer.alloc(size);
  let offset = 0;
  for (; offset + 4 <= size; offset += 4) body.writeUInt32LE(Math.floor(random.next() * 2 ** 32), offset);
  for (; offset < size; offset++) body[offset] = random.integer(0, 255);
  return body;
}
