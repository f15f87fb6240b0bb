import type { Deaths } from './death.js';
import { type Field, type FieldTable, int32, int64 } from './field-table.js';
import { type CarbonCopies, type Properties, withHeaders } from './properties.js';

/** Where a message is published to. */
export interface Address {
  readonly exchange: string;
  readonly routingKey: string;
}

/**
 * Where a message was published at first and the queue in which it failed, as the broker itself recorded them. It is never in
 * the headers, so no client can write it.
 */
export interface RecordedOrigin extends Address {
  /** Undefined until it fails. */
  readonly queue: string | undefined;
}

/** How long a delayed exchange delays a message, in milliseconds; negated when the delay is over. */
export const delayHeader = 'x-delay';

/**
 * What the broker noted about a message. Immutable: messages with the same notes share them. Dead letters with different keys have
 * one object each, so the fields that few messages need are in a class of their own.
 */
export class Notes {
  protected constructor(
    /** Where the message was first published. */
    readonly origin: RecordedOrigin | undefined,
    /** Undefined until it dies. */
    readonly deaths: Deaths | undefined,
  ) {}

  /**
   * @param copies see {@link Notes.copies}
   * @param delay see {@link Notes.delay}
   */
  static of(
    copies: CarbonCopies | undefined,
    origin: RecordedOrigin | undefined,
    deaths: Deaths | undefined,
    delay: number,
  ): Notes {
    return copies === undefined && delay === 0
      ? new Notes(origin, deaths)
      : new RareNotes(copies, origin, deaths, delay);
  }

  /** Further keys of the `CC` and `BCC` headers (rules G2, G3). */
  get copies(): CarbonCopies | undefined {
    return undefined;
  }

  /** The delay of the message that is over, in milliseconds; 0 for one that had none. */
  get delay(): number {
    return 0;
  }

  /** Whether some notes are written into the headers that consumers see. */
  get areWritten(): boolean {
    return this.deaths !== undefined || this.delay !== 0;
  }

  /**
   * The headers as consumers see them: the message's own with the notes. No other function writes headers of notes.
   */
  headers({ headers, expiration }: Properties): FieldTable | undefined {
    const own = this.withDelay(headers);
    return this.deaths === undefined ? own : this.deaths.headers(own, expiration);
  }

  /** The message's own headers, with the header of its delay if it had one. */
  withDelay(headers: FieldTable | undefined): FieldTable | undefined {
    const { delay } = this;
    return delay === 0 ? headers : new Map(headers).set(delayHeader, negated(delay));
  }

  /** The properties as consumers see them; no dead letter has an expiration (rule H3). */
  properties(own: Properties): Properties {
    if (!this.areWritten) return own;
    const headers = this.headers(own);
    return withHeaders(own, headers, this.deaths === undefined ? own.expiration : undefined);
  }
}

class RareNotes extends Notes {
  readonly #copies: CarbonCopies | undefined;
  readonly #delay: number;

  constructor(
    copies: CarbonCopies | undefined,
    origin: RecordedOrigin | undefined,
    deaths: Deaths | undefined,
    delay: number,
  ) {
    super(origin, deaths);
    this.#copies = copies;
    this.#delay = delay;
  }

  override get copies(): CarbonCopies | undefined {
    return this.#copies;
  }

  override get delay(): number {
    return this.#delay;
  }
}

const negated = (delay: number): Field => (-delay < -2_147_483_648 ? int64(-delay) : int32(-delay));
