export interface Frame {
  /** 1 method, 2 content header, 3 body, 8 heartbeat. */
  readonly type: number;
  readonly channel: number;
  readonly payload: Buffer;
}

const end = 0xce;

export function writeFrame(type: number, channel: number, payload: Buffer): Buffer {
  const frame = Buffer.alloc(payload.length + 8);
  frame.writeUInt8(type, 0);
  frame.writeUInt16BE(channel, 1);
  frame.writeUInt32BE(payload.length, 3);
  payload.copy(frame, 7);
  frame.writeUInt8(end, payload.length + 7);
  return frame;
}

/** Cuts a stream of bytes into frames. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  /** @returns the frames that are complete now */
  take(bytes: Buffer): Frame[] {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const frames: Frame[] = [];
    for (;;) {
      if (this.#rest.length < 8) return frames;
      const size = this.#rest.readUInt32BE(3);
      if (this.#rest.length < size + 8) return frames;
      if (this.#rest.readUInt8(size + 7) !== end) throw new Error('a frame does not end as frames do');
      frames.push({
        type: this.#rest.readUInt8(0),
        channel: this.#rest.readUInt16BE(1),
        payload: this.#rest.subarray(7, size + 7),
      });
      this.#rest = this.#rest.subarray(size + 8);
    }
  }
}
