import {
  type Address,
  decodePayload,
  firstDeathOf,
  fromFieldTable,
  type Message,
  type Plain,
  type Properties,
  UndecodablePayloadError,
} from '../message/index.js';
import {
  addressOf,
  claimedOriginOf,
  failingSince,
  failuresOf,
  type NotedError,
  notedErrorOf,
  recordedAddressOf,
  redrivesOf,
  workQueueOf,
} from '../history/index.js';
import { redriveAddress } from '../retry/index.js';
import { readDeaths, type XDeath } from './x-death.js';

/** The readable part of a dead letter, consumed or only looked at. */
export class Letter<T = unknown> {
  #payload: { readonly value: T | UndecodablePayloadError } | undefined;
  #properties: Properties | undefined;
  #headers: Readonly<Record<string, Plain>> | undefined;
  #deaths: readonly XDeath[] | undefined;

  constructor(
    /** As it is on the wire: `message.properties.headers` are the headers with their types. */
    readonly message: Message,
    /** The queue it lies in. */
    readonly queue: string,
    /** Whether its broker records origins; headers are not believed then. */
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
   * As plain values, like `DlxContext.headers`: `headers['tenant']`. An object without a prototype, for names come from the
   * wire. With their wire types they are in `properties.headers`.
   */
  get headers(): Readonly<Record<string, Plain>> {
    return (this.#headers ??= fromFieldTable(this.properties.headers));
  }

  /** Its deaths, the latest first (rule H7). Empty when it was parked: see `failures` and the `dlx-` headers. */
  get deaths(): readonly XDeath[] {
    return (this.#deaths ??= readDeaths(this.message));
  }

  /** Its first death since it was last published (rule H8): after a retry that of the wait queue, see `workQueue`. */
  get firstDeath(): XDeath | undefined {
    const first = firstDeathOf(this.message);
    const named = this.deaths.find(({ queue, reason }) => queue === first?.queue && reason === first.reason);
    return named ?? this.deaths.at(-1);
  }

  /** The queue in which it failed at first; the queue it lies in if nothing tells. */
  get workQueue(): string {
    return workQueueOf(this.message, !this.recordsOrigins) ?? this.queue;
  }

  /**
   * Where it was published at first, before any retry or death, as its broker recorded it. Where the broker records nothing
   * of that, a broker elsewhere, it is what the headers tell.
   */
  get origin(): Address {
    const { message, recordsOrigins } = this;
    const { exchange, routingKey } = recordsOrigins ? recordedAddressOf(message) : addressOf(message);
    return { exchange, routingKey };
  }

  /**
   * What its headers tell of its origin, while the broker recorded none: its publisher may have written them.
   * Undefined when they tell nothing, or when the origin was recorded.
   */
  get claimedOrigin(): Address | undefined {
    return this.message.origin === undefined ? claimedOriginOf(this.message) : undefined;
  }

  /** @internal Where a redrive would take it, or why it would not. */
  addressFor(to: Address | string | undefined): Address | Error {
    const { message, queue, recordsOrigins } = this;
    return redriveAddress({ message, queue, recordsOrigins }, to);
  }

  /** How often it failed in its work queue. Taken from the work queue itself, this time counts as one. */
  get failures(): number {
    return failuresOf(this.message, this.workQueue) + (this.workQueue === this.queue ? 1 : 0);
  }

  /** When it failed for the first time: as its headers tell, or else its first death in its work queue. */
  get failingSince(): Date | undefined {
    const time = failingSince(this.message);
    if (time !== undefined) return new Date(time);
    let first = Infinity;
    for (const death of this.deaths) if (death.queue === this.workQueue) first = Math.min(first, death.time.getTime());
    return Number.isFinite(first) ? new Date(first) : undefined;
  }

  /** What its handler failed with, as the headers `dlx-error-class` and `dlx-error-message` tell. */
  get error(): NotedError | undefined {
    return notedErrorOf(this.message);
  }

  /** How often it was sent back to its origin. */
  get redrives(): number {
    return redrivesOf(this.message);
  }
}
