import { ids } from './frames.js';

/** Receives what a server sends. */
export interface Listener {
  /** Messages with the tags `from` to `to` have arrived completely; called once for all that were read together. */
  delivered(from: number, to: number): void;
  /** A publish, or with `multiple` all up to it, is confirmed. */
  confirmed(tag: number, multiple: boolean): void;
  /** Any other method. The payload is valid during the call only. */
  method(id: number, payload: Buffer): void;
}

/** The most bytes of one read from the socket. */
export const readSize = 262_144;

const overhead = 8;

/** Reads only what a load program needs: tags of deliveries and confirms. Each body has to be one frame. */
export class Scanner {
  readonly #listener: Listener;
  /** The part of a frame that a read left; the next read is appended. */
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

  /** @returns the end of the last complete frame */
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
