import { methodName } from '../../libs/dlx-broker/src/amqp/client/channel-core.js';

const kinds = new Map([
  [2, 'header'],
  [3, 'body'],
  [8, 'heartbeat'],
]);

/** Describes the frames in a stream of bytes, for the trace of a single run. */
export class FrameDescriber {
  #bytes = Buffer.alloc(0);

  /** @param greeting bytes before the first frame */
  constructor(private greeting: number) {}

  /** @returns the frames that are complete with these bytes: channel, method and first bytes of its arguments */
  describe(bytes: Buffer): string {
    const frames: string[] = [];
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    const skipped = Math.min(this.greeting, this.#bytes.length);
    this.greeting -= skipped;
    this.#bytes = this.#bytes.subarray(skipped);
    while (this.#bytes.length >= 8) {
      const end = this.#bytes.readUInt32BE(3) + 8;
      if (this.#bytes.length < end) break;
      frames.push(describeFrame(this.#bytes.subarray(0, end)));
      this.#bytes = this.#bytes.subarray(end);
    }
    return frames.join('; ');
  }
}

function describeFrame(frame: Buffer): string {
  const type = frame.readUInt8(0);
  const channel = frame.readUInt16BE(1);
  if (type !== 1) return `${channel} ${kinds.get(type) ?? `type ${type}`}`;
  return `${channel} ${methodName(frame.readInt32BE(7))} ${frame.subarray(11, Math.min(frame.length - 1, 23)).toString('hex')}`;
}
