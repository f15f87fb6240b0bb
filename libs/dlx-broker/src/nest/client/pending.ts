import { AsyncResource } from 'node:async_hooks';
import type { WritePacket } from '@nestjs/microservices';

type Callback = (packet: WritePacket) => void;

/**
 * A pending request. Its answers are given to the caller in the async context of the caller. After the last answer it holds no
 * reference to the caller.
 */
export class PendingRequest extends AsyncResource {
  #callback: Callback | undefined;

  constructor(
    /** The correlation id. */
    readonly id: string,
    callback: Callback,
  ) {
    super('DlxRequest');
    this.#callback = callback;
  }

  answer(packet: WritePacket): void {
    if (this.#callback !== undefined) this.runInAsyncScope(this.#callback, undefined, packet);
  }

  /** The last answer. */
  end(packet: WritePacket): void {
    const callback = this.#callback;
    this.#callback = undefined;
    if (callback !== undefined) this.runInAsyncScope(callback, undefined, packet);
  }

  /** The caller no longer waits for an answer. */
  forget(): void {
    this.#callback = undefined;
  }
}

/** The number of places that stay when no request is pending. */
const keptPlaces = 1_024;

/**
 * The pending requests of a client, by correlation id. An id that is made here has the place of its request in an array:
 * `<prefix><place>.<count>`. A Map of all requests would grow and shrink all the time. Each time it leaves a table behind, which
 * keeps its entries in memory until a full garbage collection.
 */
export class PendingRequests {
  readonly #places: (PendingRequest | undefined)[] = [];
  readonly #free: number[] = [];
  /** Requests whose id the application chose. */
  readonly #named = new Map<string, PendingRequest>();
  #count = 0;

  constructor(private readonly prefix: string) {}

  get size(): number {
    return this.#places.length - this.#free.length + this.#named.size;
  }

  /** The number of places: the most requests that were pending at once. Few stay when none is pending. */
  get places(): number {
    return this.#places.length;
  }

  /**
   * @param id chosen by the application; by default one is made
   * @throws Error when a request with this id is pending already
   */
  add(callback: Callback, id?: string): PendingRequest {
    if (id === undefined) return this.#addOurs(callback);
    if (this.get(id) !== undefined) throw new Error(`a request with the correlation id '${id}' waits already`);
    const asked = new PendingRequest(id, callback);
    this.#named.set(id, asked);
    return asked;
  }

  get(id: string): PendingRequest | undefined {
    const asked = this.#places[this.#placeIn(id)];
    if (asked?.id === id) return asked;
    return this.#named.size === 0 ? undefined : this.#named.get(id);
  }

  /** @returns false when the request was not pending any more */
  delete(asked: PendingRequest): boolean {
    const { id } = asked;
    const place = this.#placeIn(id);
    if (this.#places[place] !== asked) return this.#named.get(id) === asked && this.#named.delete(id);
    this.#places[place] = undefined;
    this.#free.push(place);
    if (this.#free.length === this.#places.length && this.#free.length > keptPlaces) this.#clearPlaces();
    return true;
  }

  /** Removes and returns all, in the order in which they were added. */
  takeAll(): readonly PendingRequest[] {
    const all = [...this.#places.filter((asked) => asked !== undefined), ...this.#named.values()];
    this.#clearPlaces();
    this.#named.clear();
    return all.sort((one, other) => one.asyncId() - other.asyncId());
  }

  #addOurs(callback: Callback): PendingRequest {
    const place = this.#free.pop() ?? this.#places.length;
    let id = this.#newId(place);
    while (this.#named.size > 0 && this.#named.has(id)) id = this.#newId(place);
    return (this.#places[place] = new PendingRequest(id, callback));
  }

  #clearPlaces(): void {
    this.#places.length = 0;
    this.#free.length = 0;
  }

  #newId(place: number): string {
    return `${this.prefix}${place}.${++this.#count}`;
  }

  /** The place in an id. Another text has some place or none, and the request at that place has another id. */
  #placeIn(id: string): number {
    const { prefix } = this;
    if (!id.startsWith(prefix)) return -1;
    let place = 0;
    for (let index = prefix.length; index < id.length; index++) {
      const digit = id.charCodeAt(index) - 48;
      if (digit < 0 || digit > 9) break;
      place = place * 10 + digit;
    }
    return place;
  }
}
