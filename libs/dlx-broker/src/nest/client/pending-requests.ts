import { AsyncResource } from 'node:async_hooks';
import type { ReadPacket, WritePacket } from '@nestjs/microservices';
import { type Publication, UnroutableError } from '../../backends/index.js';
import type { Message } from '../../engine/message/index.js';
import { callEach, shownText } from '../../platform/index.js';
import { DlxConfigurationError } from '../../platform/options/index.js';
import { describeError } from '../core/failure.js';
import { decodePayload } from '../core/payload.js';
import { replyOf } from '../features/envelope/packet.js';
import type { PublishSpan, SafeTracing } from '../tracing/index.js';
import { DlxRecord } from './record-builder.js';
import { hasReplyKind, replyKindOf } from './reply-publisher.js';
import type { ReplyClient, SharedReplyChannel } from './shared-reply-channel.js';

type Callback = (packet: WritePacket) => void;

/**
 * A pending request. Its answers are given to the caller in the async context of the caller. After the last answer it holds no
 * reference to the caller.
 */
class PendingRequest extends AsyncResource {
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
export class RequestTable {
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

/** The requests of a client, from the publish to the last answer. */
export class PendingRequests implements ReplyClient {
  readonly #table: RequestTable;

  /**
   * @param prefix of the ids of its requests
   * @param channel shared with the clients of other targets
   * @param arePackets true if requests and replies are packets of Nest
   */
  constructor(
    readonly prefix: string,
    readonly channel: SharedReplyChannel,
    private readonly arePackets: boolean,
    private readonly tracing: SafeTracing | undefined,
    /** Called with what a subscriber threw when it got its answer. */
    private readonly thrown: (error: unknown) => void,
  ) {
    this.#table = new RequestTable(prefix);
  }

  waitsFor(correlationId: string): boolean {
    return this.#table.get(correlationId) !== undefined;
  }

  answered(message: Message): void {
    try {
      takeAnswer(message, this.#table, this.arePackets);
    } catch (error) {
      this.thrown(error);
    }
  }

  lost(reason: Error): () => void {
    const lost = this.#table.takeAll();
    return () => this.#fail(lost, reason);
  }

  /**
   * Publishes a request.
   * @param publicationOf makes the message with this correlation id
   * @param callback gets the answers, or the error
   * @returns gives the request up
   */
  ask(
    { data }: ReadPacket,
    publicationOf: (correlationId: string) => Publication,
    callback: (packet: WritePacket) => void,
  ): () => void {
    let asked: PendingRequest | undefined;
    let published: PublishSpan | undefined;
    try {
      const record: DlxRecord | undefined = data instanceof DlxRecord ? data : undefined;
      if (record?.delay !== undefined) {
        throw new DlxConfigurationError('a request waits for its answer and cannot be delayed; use emit');
      }
      const request = (asked = this.#table.add(callback, record?.properties.correlationId));
      const publication = publicationOf(request.id);
      const span = (published = this.tracing?.published(publication));
      this.channel.request(this, span?.publication ?? publication, (failure) => {
        span?.end(failure);
        if (failure !== undefined && this.#table.delete(request))
          this.#fail([request], explained(failure, publication));
      });
      return () => {
        if (!this.#table.delete(request)) return;
        request.forget();
        this.channel.giveUp(request.id);
      };
    } catch (error) {
      if (asked !== undefined) this.#table.delete(asked);
      published?.end(describeError(error));
      callback({ err: error });
      return () => undefined;
    }
  }

  /** Fails the requests without a last answer, and leaves the shared channel. */
  close(reason: Error): void {
    const requests = this.#table.takeAll();
    for (const { id } of requests) this.channel.giveUp(id);
    this.channel.leave(this);
    this.#fail(requests, reason);
  }

  /** A subscriber may throw, in `finalize` for example: the others shall get their errors all the same. */
  #fail(requests: readonly PendingRequest[], reason: Error): void {
    callEach(requests, (asked) => asked.end({ err: reason }), this.thrown);
  }
}

/** The error of a request that no queue got names what is missing. */
function explained(failure: Error, { exchange, routingKey }: Publication): Error {
  if (!(failure instanceof UnroutableError)) return failure;
  const pattern = shownText(routingKey, 255);
  const hint =
    exchange === '' ? ': there is no queue of that name' : `: no handler has @Answer or @MessagePattern('${pattern}')`;
  return new UnroutableError(exchange, routingKey, hint);
}

/**
 * Gives a reply to the request that waits for it.
 * @param arePackets whether a reply without a kind is a packet of Nest's server
 */
function takeAnswer(message: Message, pending: RequestTable, arePackets: boolean): void {
  const id = message.properties.correlationId;
  const asked = id === undefined ? undefined : pending.get(id);
  if (id === undefined || asked === undefined) return; // given up, or not ours
  if (arePackets && !hasReplyKind(message)) return takePacket(message, asked, pending);
  const kind = replyKindOf(message);
  if (kind !== 'next') pending.delete(asked);
  try {
    const response = decodePayload(message);
    if (kind === 'next') asked.answer({ response });
    else if (kind === 'error') asked.end({ err: response });
    else asked.end(kind === 'last' ? { response, isDisposed: true } : { isDisposed: true });
  } catch (error) {
    pending.delete(asked);
    asked.end({ err: error });
  }
}

/** Reads a reply of Nest's server. */
function takePacket(message: Message, asked: PendingRequest, pending: RequestTable): void {
  let reply: WritePacket;
  try {
    reply = replyOf(decodePayload(message));
  } catch (error) {
    reply = { err: error, isDisposed: true };
  }
  if (reply.isDisposed !== true) return asked.answer(reply);
  pending.delete(asked);
  asked.end(reply);
}
