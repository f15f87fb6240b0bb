/** A line of a hex view: the offset, up to 16 bytes, and the printable characters of ASCII among them. */
export interface HexRow {
  readonly offset: string;
  readonly hex: string;
  readonly text: string;
}

const width = 16;

/** The lines of a hex view of bytes. @param most the most lines */
export function hexRows(bytes: Uint8Array, most: number): readonly HexRow[] {
  const rows: HexRow[] = [];
  for (let start = 0; start < bytes.length && rows.length < most; start += width) {
    const line = [...bytes.subarray(start, start + width)];
    const digits = line.map((byte) => byte.toString(16).padStart(2, '0'));
    rows.push({
      offset: start.toString(16).padStart(6, '0'),
      hex: [digits.slice(0, 8).join(' '), digits.slice(8).join(' ')].join('  ').trimEnd(),
      text: line.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·')).join(''),
    });
  }
  return rows;
}

/** The bytes of a base64 text. */
export function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}
