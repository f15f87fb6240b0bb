import {
  ByteReader,
  type FieldTable,
  keptCopy,
  Malformed,
  PackedTable,
  type Properties,
} from '../../../engine/message/index.js';
import { KnownTexts, orInternalError } from '../method-reader.js';
import { WireError } from '../wire-error.js';

/** The flags of the fourteen properties; the other two mean nothing. */
const usedFlags = 0xfc;

/** Types of content, which few applications have many of. */
const contentTypes = new KnownTexts();

/**
 * Properties as a client sent them. They keep their bytes, so that an unchanged header goes out as it came in (rule
 * H4); a changed copy of them is a plain object, and only its headers are bytes.
 */
export class ReceivedProperties implements Properties {
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  readonly headers: FieldTable | undefined;
  readonly deliveryMode: number | undefined;
  readonly priority: number | undefined;
  readonly correlationId: string | undefined;
  readonly replyTo: string | undefined;
  readonly expiration: string | undefined;
  readonly messageId: string | undefined;
  readonly timestamp: number | bigint | undefined;
  readonly type: string | undefined;
  readonly userId: string | undefined;
  readonly appId: string | undefined;
  readonly clusterId: string | undefined;
  readonly #bytes: Buffer;

  /** @param bytes flags and values; the new object owns and changes them @throws Malformed, or WireError 541 */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    const from = new ByteReader(bytes);
    const flags = from.short();
    bytes[1] = flags & usedFlags;
    this.contentType = (flags & 0x8000) !== 0 ? contentTypes.read(from) : undefined;
    this.contentEncoding = (flags & 0x4000) !== 0 ? from.shortstr() : undefined;
    this.headers = (flags & 0x2000) !== 0 ? orInternalError(() => PackedTable.take(from)) : undefined;
    this.deliveryMode = (flags & 0x1000) !== 0 ? from.octet() : undefined;
    this.priority = (flags & 0x0800) !== 0 ? from.octet() : undefined;
    this.correlationId = (flags & 0x0400) !== 0 ? from.shortstr() : undefined;
    this.replyTo = (flags & 0x0200) !== 0 ? from.shortstr() : undefined;
    this.expiration = (flags & 0x0100) !== 0 ? from.shortstr() : undefined;
    this.messageId = (flags & 0x0080) !== 0 ? from.shortstr() : undefined;
    this.timestamp = (flags & 0x0040) !== 0 ? from.longlong() : undefined;
    this.type = (flags & 0x0020) !== 0 ? from.shortstr() : undefined;
    this.userId = (flags & 0x0010) !== 0 ? from.shortstr() : undefined;
    this.appId = (flags & 0x0008) !== 0 ? from.shortstr() : undefined;
    this.clusterId = (flags & 0x0004) !== 0 ? from.shortstr() : undefined;
    from.finish();
  }

  /** The bytes of properties that are as a client sent them; undefined for others. */
  static bytesOf(properties: Properties): Buffer | undefined {
    return #bytes in properties ? properties.#bytes : undefined;
  }

  /** True if the properties came as these bytes. */
  matches(bytes: Buffer, start: number, end: number): boolean {
    const known = this.#bytes;
    if (known.length !== end - start) return false;
    for (let index = 0; index < known.length; index++) if (known[index] !== bytes[start + index]) return false;
    return true;
  }
}

/** The most bytes that are remembered of properties or headers: a connection may have thousands of channels. */
export const maxRemembered = 4_096;

/** Reads properties. Remembers the last ones: often all messages of a channel have the same. */
export class PropertiesReader {
  #last: ReceivedProperties | undefined;

  /**
   * @param start where the property flags are
   * @throws WireError 541 when the properties cannot be decoded
   */
  read(bytes: Buffer, start: number, end: number): ReceivedProperties {
    if (this.#last?.matches(bytes, start, end) === true) return this.#last;
    try {
      const properties = new ReceivedProperties(keptCopy(bytes, start, end));
      if (end - start <= maxRemembered) this.#last = properties;
      return properties;
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      throw new WireError('INTERNAL_ERROR', 'the content header cannot be decoded');
    }
  }
}

/** The bytes of a content header before its property flags: class, weight, body size. */
export const headerPrefix = 12;

/** The body size in a content header; beyond the safe integers it is no longer exact, and far too large anyway. */
export const bodySizeIn = (bytes: Buffer, header: number): number =>
  bytes.readUInt32BE(header + 4) * 0x1_0000_0000 + bytes.readUInt32BE(header + 8);

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
