import { ids } from './frames.js';

/** Who hears what a server sends. */
export interface Listener {
  /** Messages with the tags `from` to `to` have arrived completely; called once for all that were read together. */
  delivered(from: number, to: number): void;
  /** A publish, or with `multiple` all up to it, is confirmed. */
  confirmed(tag: number, multiple: boolean): void;
  /** Any other method; the payload is only there for the time of the call. */
  method(id: number, payload: Buffer): void;
}

/** Bytes of one read from the socket at most. */
export const readSize = 262_144;

const overhead = 8;

/** Looks only at what a load program must know: tags of deliveries and confirms. A body is taken to be one frame. */
export class Scanner {
  readonly #listener: Listener;
  /** What a read left of a frame, with the next read behind it. */
  readonly #cut = Buffer.allocUnsafeSlow(readSize * 2);
  #kept = 0;
  #tag = 0;
  #arrived = 0;
  #told = 0;

  constructor(listener: Listener) {
    this.#listener = listener;
  }

  read(bytes: Buffer, length: number): void {
    if (this.#kept > 0) {
      bytes.copy(this.#cut, this.#kept, 0, length);
      this.#keep(this.#cut, this.#kept + length);
    } else this.#keep(bytes, length);
    if (this.#arrived === this.#told) return;
    const from = this.#told + 1;
    this.#told = this.#arrived;
    this.#listener.delivered(from, this.#arrived);
  }

  #keep(bytes: Buffer, length: number): void {
    const scanned = this.#scan(bytes, length);
    bytes.copy(this.#cut, 0, scanned, length);
    this.#kept = length - scanned;
  }

  /** @returns how far whole frames reach */
  #scan(bytes: Buffer, length: number): number {
    let at = 0;
    while (length - at >= overhead) {
      const size = bytes.readUInt32BE(at + 3);
      const end = at + overhead + size;
      if (end > length) break;
      const type = bytes[at];
      if (type === 3) this.#arrived = this.#tag;
      else if (type === 1) this.#method(bytes, at + 7, end - 1);
      at = end;
    }
    return at;
  }

  #method(bytes: Buffer, start: number, end: number): void {
    const id = bytes.readInt32BE(start);
    if (id === ids.basicDeliver) this.#tag = bytes.readUInt32BE(start + 9 + (bytes[start + 4] as number));
    else if (id === ids.basicAck) this.#listener.confirmed(bytes.readUInt32BE(start + 8), bytes[start + 12] === 1);
    else this.#listener.method(id, bytes.subarray(start + 4, end));
  }
}
