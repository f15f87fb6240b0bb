/** Bytes in front of a payload: type, channel and size. */
const prefix = 7;

/** The protocol header that a client sends first: AMQP and the version. */
export const greeting = 8;

/** Finds the ends of frames in a stream of bytes that comes in pieces. */
export class FrameEnds {
  /** Bytes until the size of the next frame is known, or until the end of this frame. */
  #left: number;
  #isSized: boolean;
  #size = 0;
  #seen = 0;

  /** @param isClients true for the stream of a client, which begins with the protocol header */
  constructor(isClients: boolean) {
    this.#left = isClients ? greeting : prefix;
    this.#isSized = isClients;
  }

  /** @returns the positions in these bytes at which a frame ends */
  scan(bytes: Uint8Array): readonly number[] {
    const ends: number[] = [];
    for (let at = 0; at < bytes.length;) {
      if (this.#isSized) {
        const step = Math.min(this.#left, bytes.length - at);
        at += step;
        this.#left -= step;
        if (this.#left > 0) break;
        ends.push(at);
        this.#isSized = false;
        this.#left = prefix;
        this.#seen = this.#size = 0;
      } else {
        if (this.#seen >= 3) this.#size = this.#size * 256 + (bytes[at] as number);
        at++;
        if (++this.#seen < prefix) continue;
        this.#isSized = true;
        this.#left = this.#size + 1;
      }
    }
    return ends;
  }
}
