import { ByteReader, decodeText, isUtf8 } from '../../engine/message/index.js';
import { KnownTexts } from './known-texts.js';
import { WireError } from './wire-error.js';

/** Reads the arguments of methods. A name may have any bytes, as a server may send them, and keeps all of them. */
export class MethodReader extends ByteReader {
  #names: KnownTexts | undefined;

  /** A short string of a method. */
  name(): string {
    return (this.#names ??= new KnownTexts()).read(this);
  }
}

/** Reads the methods of clients, whose names have to be UTF-8, as RabbitMQ does. */
export class StrictMethodReader extends MethodReader {
  /** @throws WireError 501 when a name is not UTF-8 */
  override name(): string {
    const length = this.octet();
    const at = this.take(length);
    const name = decodeText(this.bytes, at, at + length);
    if (!isUtf8(name)) throw new WireError('FRAME_ERROR', 'Malformed UTF-8 in shortstr');
    return name;
  }
}
