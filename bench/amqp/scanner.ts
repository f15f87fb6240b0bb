import { ids } from './frames.js';

/** Receives what a server sends. */
export interface Listener {
  /** Messages with the tags `from` to `to` have arrived completely. Called once for each read. */
  delivered(from: number, to: number): void;
  /** A publish, or with `multiple` all up to it, is confirmed. */
  confirmed(tag: number, multiple: boolean): void;
  /** Any other method. The payload is valid during the call only. */
  method(id: number, payload: Buffer): void;
  /** The body of a message, from `at` on. Only for a program that reads bodies. */
  body?(bytes: Buffer, at: number): void;
}

/** The most bytes of one read from the socket. */
export const readSize = 262_144;

/** Buffers that all connections of a program share: the bytes of a read are scanned before the next read begins. */
export class ReadBuffers {
  readonly read = Buffer.allocUnsafeSlow(readSize);
  /** The part of a frame that the last read of a connection left, followed by its next read. */
  readonly joined = Buffer.allocUnsafeSlow(readSize * 2);
}

const overhead = 8;
const nothing = Buffer.alloc(0);

/** Reads only what a load program needs: tags of deliveries and confirms. Each body has to be one frame. */
export class Scanner {
  readonly #listener: Listener;
  readonly #buffers: ReadBuffers;
  /** The part of a frame that a read left. */
  #cut = nothing;
  #tag = 0;
  #arrived = 0;
  #reported = 0;

  constructor(listener: Listener, buffers: ReadBuffers) {
    this.#listener = listener;
    this.#buffers = buffers;
  }

  read(bytes: Buffer, length: number): void {
    const kept = this.#cut.length;
    if (kept > 0) {
      const { joined } = this.#buffers;
      this.#cut.copy(joined, 0);
      bytes.copy(joined, kept, 0, length);
      this.#keep(joined, kept + length);
    } else this.#keep(bytes, length);
    if (this.#arrived === this.#reported) return;
    const from = this.#reported + 1;
    this.#reported = this.#arrived;
    this.#listener.delivered(from, this.#arrived);
  }

  #keep(bytes: Buffer, length: number): void {
    const scanned = this.#scan(bytes, length);
    this.#cut = scanned === length ? nothing : Buffer.from(bytes.subarray(scanned, length));
  }

  /** @returns the end of the last complete frame */
  #scan(bytes: Buffer, length: number): number {
    let at = 0;
    while (length - at >= overhead) {
      const size = bytes.readUInt32BE(at + 3);
      const end = at + overhead + size;
      if (end > length) break;
      const type = bytes[at];
      if (type === 3) {
        this.#arrived = this.#tag;
        this.#listener.body?.(bytes, at + 7);
      } else if (type === 1) this.#method(bytes, at + 7, end - 1);
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
