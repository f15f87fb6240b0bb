import type { FieldTable } from './field-table.js';

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
  /** Reads the body of a message back; the mark of one that shares another's body is that of the other, negative. */
  bodyOf(message: Message): Uint8Array;
}

/** What travels. Immutable, and shared by all queues that hold it. */
export class Message {
  /** The journal's own: its number for a message it has stored, 0 for any other. */
  mark = 0;
  #size: number;
  #body: Uint8Array | undefined;
  #shelf: Shelf | undefined;

  constructor(
    /** The exchange it was last published to; for a dead letter the DLX (rule H1). */
    readonly exchange: string,
    /** The key a consumer sees. */
    readonly routingKey: string,
    readonly properties: Properties,
    /** Or the message whose body it shares. */
    body: Uint8Array | Message,
    /** Further keys of the `CC` and `BCC` headers; undefined for nearly all messages (rules G2, G3). */
    readonly carbonCopies?: CarbonCopies,
  ) {
    if (body instanceof Message) {
      this.#size = body.size;
      this.mark = body.mark > 0 ? -body.mark : body.mark;
      this.#body = body.#body;
      this.#shelf = body.#shelf;
    } else {
      this.#size = body.length;
      this.#body = body;
    }
  }

  /** Bytes of the body, told without it being at hand. */
  get size(): number {
    return this.#size;
  }

  get body(): Uint8Array {
    return this.#body ?? (this.#shelf as Shelf).bodyOf(this);
  }

  /** Whether the body is in memory. */
  get isAtHand(): boolean {
    return this.#body !== undefined;
  }

  /** Lets go of the body, which the shelf has. @param size of one that outlived the process and was never at hand */
  shelve(shelf: Shelf, size = this.#size): void {
    this.#size = size;
    this.#body = undefined;
    this.#shelf = shelf;
  }

  /** Brings the body back into memory: it is about to leave, or shall outlive the message it shares it with. */
  fetch(): void {
    this.#body ??= this.body;
    if (this.mark < 0) this.mark = 0;
  }

  /** Whether a death brought it here, so that its `x-death` is the broker's own (rule W3). */
  get hasDied(): boolean {
    return false;
  }
}

/** A message that died at least once. */
export class DeadLetteredMessage extends Message {
  override get hasDied(): boolean {
    return true;
  }
}

/** Routing keys beside the publish key. BCC keys are remembered although the header is removed (rule G2). */
export interface CarbonCopies {
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
}

export const noProperties: Properties = {};
