import type { FieldTable } from './field-table.js';
import type { RecordedOrigin } from './origin.js';

/**
 * The fourteen properties of an AMQP 0-9-1 basic message; an absent one was not sent. Never changed in place: copies of
 * a message in several queues share them (rule H13).
 */
export interface Properties {
  readonly contentType?: string | undefined;
  readonly contentEncoding?: string | undefined;
  readonly headers?: FieldTable | undefined;
  /** 1 transient, 2 persistent. */
  readonly deliveryMode?: number | undefined;
  readonly priority?: number | undefined;
  readonly correlationId?: string | undefined;
  readonly replyTo?: string | undefined;
  /** Milliseconds as a decimal string, exactly as sent (rule B2). */
  readonly expiration?: string | undefined;
  readonly messageId?: string | undefined;
  /** Seconds since 1970. */
  readonly timestamp?: number | bigint | undefined;
  readonly type?: string | undefined;
  readonly userId?: string | undefined;
  readonly appId?: string | undefined;
  readonly clusterId?: string | undefined;
}

/** Has bodies that need not be in memory. */
export interface Shelf {
  /**
   * Reads the body of a message back; the mark of one that shares another's body is that of the other, negative.
   * @throws Unreadable which says whether the body is lost, or cannot be read now
   */
  bodyOf(message: Message): Uint8Array;
}

/** In the place of a body: where it is, and how long it is. Messages of one size may share one. */
export class Shelved {
  constructor(
    readonly shelf: Shelf,
    /** Bytes, by the name an array has for them. */
    readonly length: number,
  ) {}
}

/**
 * What travels. Immutable, and shared by all queues that hold it. Millions of them wait at a time, so every field counts:
 * what few messages have stands in classes of their own.
 */
export class Message {
  /** The journal's own: its number for a message it has stored, 0 for any other. */
  mark = 0;
  #held: Uint8Array | Shelved;

  constructor(
    /** The exchange it was last published to; for a dead letter the DLX (rule H1). */
    readonly exchange: string,
    /** The key a consumer sees. */
    readonly routingKey: string,
    readonly properties: Properties,
    /** Or the message whose body it shares. */
    body: Uint8Array | Message,
  ) {
    if (body instanceof Message) {
      this.mark = body.mark > 0 ? -body.mark : body.mark;
      this.#held = body.#held;
    } else {
      this.#held = body;
    }
  }

  /** Further keys of the `CC` and `BCC` headers; undefined for nearly all messages (rules G2, G3). */
  get carbonCopies(): CarbonCopies | undefined {
    return undefined;
  }

  /** Where it was published at first; recorded at its first death, or when this process retried or parked it. */
  get origin(): RecordedOrigin | undefined {
    return undefined;
  }

  /** Bytes of the body, told without it being at hand. */
  get size(): number {
    return this.#held.length;
  }

  /** @throws Unreadable when it is on disk, and cannot be read */
  get body(): Uint8Array {
    const held = this.#held;
    return held instanceof Shelved ? held.shelf.bodyOf(this) : held;
  }

  /** Whether the body is in memory. */
  get isAtHand(): boolean {
    return !(this.#held instanceof Shelved);
  }

  /** Lets go of the body, which a shelf has. */
  shelve(place: Shelved): void {
    this.#held = place;
  }

  /**
   * Brings the body back into memory: it is about to leave, or shall outlive the message it shares it with.
   * @throws Unreadable when it cannot be read; then nothing has changed
   */
  fetch(): void {
    this.#held = this.body;
    if (this.mark < 0) this.mark = 0;
  }

  /** The same message with this body in memory, whatever becomes of this one's; no journal keeps it. */
  pinned(body: Uint8Array): Message {
    const { exchange, routingKey, properties, carbonCopies, origin } = this;
    return this.hasDied
      ? new DeadLetteredMessage(exchange, routingKey, properties, body, carbonCopies, origin)
      : messageOf(exchange, routingKey, properties, body, carbonCopies, origin);
  }

  /** Whether a death brought it here, so that its `x-death` is the broker's own (rule W3). */
  get hasDied(): boolean {
    return false;
  }
}

/** A message with further routing keys. */
export class CopiedMessage extends Message {
  readonly #copies: CarbonCopies;

  constructor(
    exchange: string,
    routingKey: string,
    properties: Properties,
    body: Uint8Array | Message,
    copies: CarbonCopies,
  ) {
    super(exchange, routingKey, properties, body);
    this.#copies = copies;
  }

  override get carbonCopies(): CarbonCopies {
    return this.#copies;
  }
}

/** Both of what a message may have; most have but an origin, which many share. */
class OriginAndCopies {
  constructor(
    readonly origin: RecordedOrigin | undefined,
    readonly copies: CarbonCopies,
  ) {}
}

/** A message of which an origin was recorded. */
export class TracedMessage extends Message {
  readonly #known: RecordedOrigin | OriginAndCopies | undefined;

  constructor(
    exchange: string,
    routingKey: string,
    properties: Properties,
    body: Uint8Array | Message,
    copies?: CarbonCopies,
    origin?: RecordedOrigin,
  ) {
    super(exchange, routingKey, properties, body);
    this.#known = copies === undefined ? origin : new OriginAndCopies(origin, copies);
  }

  override get origin(): RecordedOrigin | undefined {
    const known = this.#known;
    return known instanceof OriginAndCopies ? known.origin : known;
  }

  override get carbonCopies(): CarbonCopies | undefined {
    const known = this.#known;
    return known instanceof OriginAndCopies ? known.copies : undefined;
  }
}

/** A message that died at least once. */
export class DeadLetteredMessage extends TracedMessage {
  override get hasDied(): boolean {
    return true;
  }
}

/** A message that did not die, with further routing keys or without, and with an origin if one was recorded. */
export function messageOf(
  exchange: string,
  routingKey: string,
  properties: Properties,
  body: Uint8Array | Message,
  copies: CarbonCopies | undefined,
  origin?: RecordedOrigin,
): Message {
  if (origin !== undefined) return new TracedMessage(exchange, routingKey, properties, body, copies, origin);
  return copies === undefined
    ? new Message(exchange, routingKey, properties, body)
    : new CopiedMessage(exchange, routingKey, properties, body, copies);
}

/** Routing keys beside the publish key. BCC keys are remembered although the header is removed (rule G2). */
export interface CarbonCopies {
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
}

/** The properties of a message that has none, shared. */
export const noProperties: Properties = {};
