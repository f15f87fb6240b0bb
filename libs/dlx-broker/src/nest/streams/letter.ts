import {
  type Address,
  type DeathEntry,
  fromFieldTable,
  type Message,
  oldestDeathOf,
  type Plain,
  type Properties,
} from '../../engine/message/index.js';
import {
  addressOf,
  claimedOriginOf,
  dateAt,
  decodePayload,
  type ErrorEntry,
  failingSince,
  failuresOf,
  fingerprintIn,
  historyOf,
  notedErrorOf,
  readHistory,
  recordedAddressOf,
  redrivesOf,
  UndecodablePayloadError,
  workQueueOf,
} from '../../platform/history/index.js';
import { redriveAddress } from '../retry/index.js';

/** A dead letter to read: one that was consumed, or one that stays in its queue. */
export class Letter<T = unknown> {
  #payload: { readonly value: T | UndecodablePayloadError } | undefined;
  #properties: Properties | undefined;
  #headers: Readonly<Record<string, Plain>> | undefined;
  #deaths: readonly XDeath[] | undefined;

  constructor(
    /** As it is on the wire: `message.properties.headers` are the headers with their types. */
    readonly message: Message,
    /** The queue that has the letter. */
    readonly queue: string,
    /** True if its broker records origins. Headers are then not used. */
    protected readonly recordsOrigins = false,
  ) {}

  /** The body, decoded by its content type; an {@link UndecodablePayloadError} if that is not possible. */
  get payload(): T | UndecodablePayloadError {
    this.#payload ??= { value: decodePayload(this.message) as T | UndecodablePayloadError };
    return this.#payload.value;
  }

  get body(): Uint8Array {
    return this.message.body;
  }

  get properties(): Properties {
    return (this.#properties ??= this.message.properties);
  }

  /**
   * As plain values, like `DlxContext.headers`: `headers['tenant']`. The object has no prototype, because the names come
   * from the wire. `properties.headers` has the headers with their wire types.
   */
  get headers(): Readonly<Record<string, Plain>> {
    return (this.#headers ??= fromFieldTable(this.properties.headers));
  }

  /** Its deaths since it was published or redriven, the latest first (rule H7), also before retries and in the parking lot. */
  get deaths(): readonly XDeath[] {
    return (this.#deaths ??= readDeaths(this.message));
  }

  /** Its first death since it was last published (rule H8). After a retry this is the death in the wait queue, see `workQueue`. */
  get firstDeath(): XDeath | undefined {
    const oldest = oldestDeathOf(this.message);
    return oldest && toXDeath(oldest);
  }

  /** The queue in which it failed at first; if that is unknown, the queue that has it now. */
  get workQueue(): string {
    return workQueueOf(this.message, !this.recordsOrigins) ?? this.queue;
  }

  /**
   * Where it was published at first, before any retry or death, as its broker recorded it. If the broker records no origins, as
   * RabbitMQ, it is the origin that the headers name.
   */
  get origin(): Address {
    const { message, recordsOrigins } = this;
    const { exchange, routingKey } = recordsOrigins ? recordedAddressOf(message) : addressOf(message);
    return { exchange, routingKey };
  }

  /**
   * The origin that its headers name, which its publisher may have written. Undefined when they name none, and when the broker
   * recorded the origin.
   */
  get claimedOrigin(): Address | undefined {
    return this.message.origin === undefined ? claimedOriginOf(this.message) : undefined;
  }

  /** @internal The target of a redrive, or the error that refuses it. */
  addressFor(to: Address | string | undefined): Address | Error {
    const { message, queue, recordsOrigins } = this;
    return redriveAddress({ message, queue, recordsOrigins }, to);
  }

  /** How often it failed in its work queue. In a letter consumed from the work queue itself the present attempt counts. */
  get failures(): number {
    return failuresOf(this.message, this.workQueue) + (this.workQueue === this.queue ? 1 : 0);
  }

  /** When it failed for the first time: as its headers say, or else its first death in its work queue. */
  get failingSince(): Date | undefined {
    const time = failingSince(this.message);
    if (time !== undefined) return new Date(time);
    let first = Infinity;
    for (const death of this.deaths) if (death.queue === this.workQueue) first = Math.min(first, death.time.getTime());
    return Number.isFinite(first) ? new Date(first) : undefined;
  }

  /** The class and the text of the error of its handler, by the headers `dlx-error-class` and `dlx-error-message`. */
  get error(): { readonly name: string; readonly message: string } | undefined {
    return notedErrorOf(this.message);
  }

  /** The errors of its attempts, the latest first, by the header `dlx-errors`. Entries between the first and the latest ones may be missing. */
  get errors(): readonly ErrorEntry[] {
    return readHistory(this.message.own.headers).errors;
  }

  /** The fingerprint of its error, by which similar failures are grouped; undefined without an error. */
  get fingerprint(): string | undefined {
    return fingerprintIn(this.message);
  }

  /** How often it was sent back to its origin. */
  get redrives(): number {
    return redrivesOf(this.message);
  }
}

/** One entry of `x-death`: all deaths of a message in one queue for one reason (rule H5). */
export interface XDeath extends Omit<DeathEntry, 'time'> {
  /** When it first died there for that reason, to the second; 1970 for a forged time that no date can have. */
  readonly time: Date;
}

export const toXDeath = (death: DeathEntry): XDeath => ({ ...death, time: new Date(dateAt(death.time) ?? 0) });

/** The deaths of a message since it was published or redriven, the latest first: see {@link historyOf}. */
export const readDeaths = (message: Message): readonly XDeath[] => historyOf(message).map(toXDeath);
