/** The bytes of base64; undefined if the text is none. Line ends and spaces are ignored. */
export function bytesOfBase64(text: string): Uint8Array | undefined {
  const plain = text.replaceAll(/\s/g, '');
  const isBase64 = plain.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(plain);
  return isBase64 ? Buffer.from(plain, 'base64') : undefined;
}
