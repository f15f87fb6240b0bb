import { ByteReader, type Properties } from '../../../engine/message/index.js';
import { ReceivedProperties } from './received.js';

const headersFlag = 0x2000;

/**
 * Properties whose headers cannot be decoded, for instance because they are nested too deep. A client must not lose its connection
 * because of a message of another client. The headers are absent, and the other properties are those that can be read. All bytes are
 * kept, so that the message can be published again unchanged.
 */
export class UndecodableProperties extends ReceivedProperties {
  readonly #sent: Buffer;

  /** @param sent all bytes @param readable the bytes without the headers */
  constructor(sent: Buffer, readable: Buffer) {
    super(readable);
    this.#sent = sent;
  }

  /** The bytes of these properties as they came, if they came from the wire. */
  static sentBytesOf(properties: Properties): Buffer | undefined {
    return #sent in properties ? properties.#sent : ReceivedProperties.bytesOf(properties);
  }
}

/** Reads properties, even if they cannot be decoded. @param bytes flags and values; the result owns and changes them */
export function readTolerantly(bytes: Buffer): ReceivedProperties {
  const lowFlags = bytes[1];
  try {
    return new ReceivedProperties(bytes);
  } catch {
    if (lowFlags !== undefined) bytes[1] = lowFlags; // reading has cleared the flags that mean nothing
    return readWithoutHeaders(bytes);
  }
}

function readWithoutHeaders(bytes: Buffer): UndecodableProperties {
  try {
    return new UndecodableProperties(bytes, withoutHeaders(bytes));
  } catch {
    return new UndecodableProperties(bytes, Buffer.alloc(2));
  }
}

/** @throws Malformed when a property before the headers, or the length of the headers, is wrong */
function withoutHeaders(bytes: Buffer): Buffer {
  const from = new ByteReader(bytes);
  const flags = from.short();
  if ((flags & headersFlag) === 0) return Buffer.from(bytes);
  for (const flag of [0x8000, 0x4000]) if ((flags & flag) !== 0) from.take(from.octet());
  const start = from.at;
  from.take(from.long());
  const rest = Buffer.concat([bytes.subarray(0, start), bytes.subarray(from.at)]);
  rest.writeUInt16BE(flags & ~headersFlag);
  return rest;
}
