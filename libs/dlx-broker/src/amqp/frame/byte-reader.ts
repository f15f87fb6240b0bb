import { AmqpError } from '../../broker/index.js';
import { ByteReader as PlainReader, decodeText, isUtf8 } from '../../message/index.js';

export { Malformed } from '../../message/index.js';

/** Reads what methods are made of. */
export class ByteReader extends PlainReader {
  /** A short string of a method: nothing but UTF-8. @throws AmqpError 501 */
  name(): string {
    const length = this.octet();
    const at = this.take(length);
    const name = decodeText(this.bytes, at, at + length);
    if (!isUtf8(name)) throw new AmqpError('FRAME_ERROR', 'Malformed UTF-8 in shortstr');
    return name;
  }
}
