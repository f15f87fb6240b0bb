import type { ByteSource } from './byte-source.js';
import { type Envelope, readEnvelope } from './envelope.js';

interface Known {
  readonly bytes: Buffer;
  readonly envelope: Envelope;
}

const slots = 1024;
/** Longer envelopes, in bytes, are not cached: they are rarely equal. */
const maxCached = 512;

/** Reads envelopes, with a cache of recent ones: messages of a queue often have equal envelopes. */
export class EnvelopeReader {
  readonly #known: (Known | undefined)[] = new Array<Known | undefined>(slots);

  /** Reads an envelope with its length before it. */
  read(from: ByteSource): Envelope {
    const length = from.varint();
    const { bytes, at } = from;
    const end = at + length;
    if (length > maxCached) {
      const envelope = readEnvelope(from);
      from.at = end;
      return envelope;
    }
    let hash = length;
    for (let index = at; index < end; index++) hash = (Math.imul(hash, 31) + (bytes[index] as number)) | 0;
    const slot = hash & (slots - 1);
    const known = this.#known[slot];
    if (known !== undefined && known.bytes.length === length && isSame(known.bytes, bytes, at)) {
      from.at = end;
      return known.envelope;
    }
    const envelope = readEnvelope(from);
    from.at = end;
    this.#known[slot] = { bytes: Buffer.from(bytes.subarray(at, end)), envelope };
    return envelope;
  }
}

function isSame(known: Buffer, bytes: Buffer, at: number): boolean {
  for (let index = 0; index < known.length; index++) if (known[index] !== bytes[at + index]) return false;
  return true;
}
