import type { Backend, Done, Publication, ReplyChannel } from '../backend/index.js';
import type { Message } from '../message/index.js';

/** A client that asks. */
export interface Asker {
  /** The first characters of the ids that it makes. All askers have as many. */
  readonly prefix: string;
  /** Whether a request with this id waits for its answer. */
  waitsFor(correlationId: string): boolean;
  answered(message: Message): void;
  /** No answer comes to the requests so far. @returns fails them; requests that are sent meanwhile stay */
  lost(reason: Error): () => void;
}

/**
 * The reply channel of a client and of all clients made by its `to()`: a channel for each target would use up the channels of the
 * connection. It is opened by the first request, and closed when the last client is closed.
 */
export class SharedReplies {
  readonly #askers = new Map<string, Asker>();
  #channel: ReplyChannel | undefined;
  #lengthOfPrefix = 0;

  constructor(private readonly backend: Backend) {}

  /** @throws Error when a request of another client with this id waits for its answer */
  request(asker: Asker, publication: Publication, done: Done): void {
    const { correlationId = '' } = publication.properties;
    if (!correlationId.startsWith(asker.prefix)) this.#checkOwn(asker, correlationId);
    this.#askers.set(asker.prefix, asker);
    this.#lengthOfPrefix = asker.prefix.length;
    this.#channel ??= this.#open();
    this.#channel.request(publication, done);
  }

  giveUp(correlationId: string): void {
    this.#channel?.giveUp?.(correlationId);
  }

  /** A client was closed. */
  leave(asker: Asker): void {
    this.#askers.delete(asker.prefix);
    if (this.#askers.size > 0) return;
    this.#channel?.close();
    this.#channel = undefined;
  }

  #open(): ReplyChannel {
    return this.backend.openReplies(
      (message) => {
        const id = message.properties.correlationId;
        if (id !== undefined) this.#askerOf(id)?.answered(message);
      },
      (id) => this.#askerOf(id) !== undefined,
      (reason) => this.#lost(reason),
    );
  }

  /** The next request opens another channel. */
  #lost(reason: Error): void {
    this.#channel = undefined;
    const failures = [...this.#askers.values()].map((asker) => asker.lost(reason));
    for (const fail of failures) fail();
  }

  /** @returns undefined for a request that was given up, or is of no client here */
  #askerOf(id: string): Asker | undefined {
    const maker = this.#askers.get(id.slice(0, this.#lengthOfPrefix));
    if (maker?.waitsFor(id) === true) return maker;
    // An id that the application chose.
    for (const asker of this.#askers.values()) if (asker.waitsFor(id)) return asker;
    return undefined;
  }

  #checkOwn(asker: Asker, id: string): void {
    for (const other of this.#askers.values()) {
      if (other === asker || !other.waitsFor(id)) continue;
      throw new Error(`a request of another client with the correlation id '${id}' waits already`);
    }
  }
}
