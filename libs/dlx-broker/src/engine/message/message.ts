import { noBytes } from './codec/text.js';
import type { Deaths } from './death.js';
import type { Field } from './field-table.js';
import { Notes, type RecordedOrigin } from './notes.js';
import type { CarbonCopies, Properties } from './properties.js';

declare const opaque: unique symbol;

/**
 * What a store notes in an object of the core: in a message, in its place in a queue, in a queue. Only the store that
 * wrote it reads it. Undefined there means that no store has the object.
 */
export interface StoreSlot {
  readonly [opaque]: never;
}

/** A message, as its stored body knows it. */
export interface BodyOwner {
  readonly slot: StoreSlot | undefined;
}

/** A body on disk. Messages may share one: the store finds the bytes by the message. */
export abstract class StoredBody {
  /** Bytes, under the same name as of an array. */
  abstract readonly length: number;

  /**
   * The body of this message, read from disk.
   * @throws Unreadable which says whether the body is lost, or cannot be read now
   */
  abstract read(message: BodyOwner): Uint8Array;
}

/** A body in memory, or on disk. */
export type Body = Uint8Array | StoredBody;

/**
 * Why a body cannot be read. Only an error with `isLost` proves that the bytes are gone or changed. After any other error
 * (no free file or memory, an error of the disk) the next try may succeed.
 */
export interface Unreadable extends Error {
  readonly isLost?: boolean;
}

/** Whether the error proves that the body is gone for good. */
export const isLost = (error: unknown): boolean => error instanceof Error && (error as Unreadable).isLost === true;

/** The body of a message without content, shared. */
export const emptyBody: Uint8Array = noBytes;

/**
 * A message. Immutable, and shared by all queues that have it. Millions of messages may wait, so every field counts: what few
 * messages need is in their notes.
 */
export class Message {
  /** The store's slot, or the message in a store whose body this one shares. */
  #stored: StoreSlot | Message | undefined = undefined;
  #body: Body;

  constructor(
    /** The exchange to which it was published last; for a dead letter the DLX (rule H1). */
    readonly exchange: string,
    /** The key a consumer sees. */
    readonly routingKey: string,
    /** Its own properties: as they were published, without notes of the broker. */
    readonly own: Properties,
    /** The body, or the message whose body it shares. */
    body: Uint8Array | Message,
  ) {
    if (body instanceof Message) {
      const stored = body.#stored;
      if (stored !== undefined) this.#stored = stored instanceof Message ? stored : body;
      this.#body = body.#body;
    } else {
      this.#body = body;
    }
  }

  /** Written and read by the store only; undefined unless a store has this message. */
  get slot(): StoreSlot | undefined {
    const stored = this.#stored;
    return stored instanceof Message ? undefined : stored;
  }

  /** Ends the sharing of a body: only a message without a slot shares one. */
  set slot(slot: StoreSlot | undefined) {
    this.#stored = slot;
  }

  /** The message in a store whose body this one shares; undefined when this one has a slot, or its body for itself. */
  get sharesWith(): Message | undefined {
    const stored = this.#stored;
    return stored instanceof Message ? stored : undefined;
  }

  /** What the broker noted about the message; undefined for nearly all messages. */
  get notes(): Notes | undefined {
    return undefined;
  }

  /** The properties as a consumer sees them. Those of a dead letter are made at each call. */
  get properties(): Properties {
    return this.own;
  }

  /** One header as a consumer sees it. */
  header(name: string): Field | undefined {
    return this.own.headers?.get(name);
  }

  /** The time it may wait in a queue; a dead letter has none (rule H3). */
  get expiration(): string | undefined {
    return this.own.expiration;
  }

  /** Further keys of the `CC` and `BCC` headers; undefined for nearly all messages (rules G2, G3). */
  get carbonCopies(): CarbonCopies | undefined {
    return undefined;
  }

  /** Where the message was first published: recorded at its first death, or when a handler retried or parked it. */
  get origin(): RecordedOrigin | undefined {
    return undefined;
  }

  /** Its deaths as this broker recorded them; undefined for a message that did not die here (rule W3). */
  get deaths(): Deaths | undefined {
    return undefined;
  }

  /** Whether a death brought it here. */
  get hasDied(): boolean {
    return this.deaths !== undefined;
  }

  /** Bytes of the body, wherever it is. */
  get size(): number {
    return this.#body.length;
  }

  /** @throws Unreadable when it is on disk, and cannot be read */
  get body(): Uint8Array {
    const body = this.#body;
    return body instanceof StoredBody ? body.read(this) : body;
  }

  /** Whether the body is in memory. */
  get isLoaded(): boolean {
    return !(this.#body instanceof StoredBody);
  }

  /** Replaces the body in memory by the one on disk. */
  pageOut(to: StoredBody): void {
    this.#body = to;
  }

  /**
   * Reads the body into memory. From then on the message shares it with no message in a store.
   * @throws Unreadable when it cannot be read; then nothing has changed
   */
  load(): void {
    this.#body = this.body;
    if (this.#stored instanceof Message) this.#stored = undefined;
  }

  /** The same message with this body in memory, which no store pages out: this one itself if no store has it. */
  pinned(body: Uint8Array): Message {
    if (this.#stored === undefined && this.isLoaded) return this;
    return messageOf(this.exchange, this.routingKey, this.own, body, this.notes);
  }
}

/** A message of which the broker noted something. */
export class NotedMessage extends Message {
  readonly #notes: Notes;

  constructor(exchange: string, routingKey: string, own: Properties, body: Uint8Array | Message, notes: Notes) {
    super(exchange, routingKey, own, body);
    this.#notes = notes;
  }

  override get notes(): Notes {
    return this.#notes;
  }

  override get properties(): Properties {
    return this.#notes.properties(this.own);
  }

  override header(name: string): Field | undefined {
    const isOurs = this.#notes.areWritten && name.startsWith('x-');
    return (isOurs ? this.#notes.headers(this.own) : this.own.headers)?.get(name);
  }

  override get expiration(): string | undefined {
    return this.#notes.deaths === undefined ? this.own.expiration : undefined;
  }

  override get carbonCopies(): CarbonCopies | undefined {
    return this.#notes.copies;
  }

  override get origin(): RecordedOrigin | undefined {
    return this.#notes.origin;
  }

  override get deaths(): Deaths | undefined {
    return this.#notes.deaths;
  }
}

/** Makes a message, with notes if there are any. */
export const messageOf = (
  exchange: string,
  routingKey: string,
  own: Properties,
  body: Uint8Array | Message,
  notes: Notes | undefined,
): Message =>
  notes === undefined
    ? new Message(exchange, routingKey, own, body)
    : new NotedMessage(exchange, routingKey, own, body, notes);

/** The notes of a message that is published; undefined when there is nothing to note. */
export const notesOf = (copies: CarbonCopies | undefined, origin?: RecordedOrigin): Notes | undefined =>
  copies === undefined && origin === undefined ? undefined : Notes.of(copies, origin, undefined, 0);
