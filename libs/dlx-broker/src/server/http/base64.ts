/** The bytes of base64; undefined if the text is none. Line ends and spaces of ASCII are ignored. */
export function bytesOfBase64(text: string): Uint8Array | undefined {
  const plain = /\s/.test(text) ? withoutSpace(text) : text;
  if (plain === undefined || plain.length % 4 !== 0) return undefined;
  // A pattern of the whole text would go back over all of it when the end does not match.
  const end = plain.search(/[^A-Za-z0-9+/]/);
  const isBase64 = end < 0 || ['=', '=='].includes(plain.slice(end));
  return isBase64 ? Buffer.from(plain, 'base64') : undefined;
}

/**
 * A string without spaces. Some ten megabytes of single spaces take as long as other text: a replacement would make a part
 * for each.
 * @returns undefined for other characters than those of ASCII
 */
function withoutSpace(text: string): string | undefined {
  const bytes = Buffer.from(text);
  if (bytes.length !== text.length) return undefined;
  let length = 0;
  for (const byte of bytes) if (!isSpace(byte)) bytes[length++] = byte;
  return bytes.toString('latin1', 0, length);
}

const isSpace = (byte: number): boolean => byte === 32 || (byte >= 9 && byte <= 13);
