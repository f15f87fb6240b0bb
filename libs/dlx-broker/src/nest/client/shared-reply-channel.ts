import type { Backend, Done, Publication, ReplyChannel } from '../../backends/index.js';
import type { Message } from '../../engine/message/index.js';

/** A client that gets its answers by the shared channel. */
export interface ReplyClient {
  /** The prefix of the ids that it makes. The prefixes of all clients have the same length. */
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
export class SharedReplyChannel {
  readonly #clients = new Map<string, ReplyClient>();
  #channel: ReplyChannel | undefined;
  #lengthOfPrefix = 0;

  constructor(private readonly backend: Backend) {}

  /** The reply-to of requests, if it is known before they are sent. */
  get address(): string | undefined {
    return this.#channel?.address;
  }

  /** @throws Error when a request of another client with this id waits for its answer */
  request(client: ReplyClient, publication: Publication, done: Done): void {
    const { correlationId = '' } = publication.properties;
    if (!correlationId.startsWith(client.prefix)) this.#checkOwn(client, correlationId);
    this.#clients.set(client.prefix, client);
    this.#lengthOfPrefix = client.prefix.length;
    this.#channel ??= this.#open();
    this.#channel.request(publication, done);
  }

  giveUp(correlationId: string): void {
    this.#channel?.giveUp?.(correlationId);
  }

  /** A client was closed. */
  leave(client: ReplyClient): void {
    this.#clients.delete(client.prefix);
    if (this.#clients.size > 0) return;
    this.#channel?.close();
    this.#channel = undefined;
  }

  #open(): ReplyChannel {
    return this.backend.openReplies(
      (message) => {
        const id = message.properties.correlationId;
        if (id !== undefined) this.#clientOf(id)?.answered(message);
      },
      (id) => this.#clientOf(id) !== undefined,
      (reason) => this.#lost(reason),
    );
  }

  /** The next request opens another channel. */
  #lost(reason: Error): void {
    this.#channel = undefined;
    const failures = [...this.#clients.values()].map((client) => client.lost(reason));
    for (const fail of failures) fail();
  }

  /** @returns undefined for a request that was given up, or is of no client here */
  #clientOf(id: string): ReplyClient | undefined {
    const maker = this.#clients.get(id.slice(0, this.#lengthOfPrefix));
    if (maker?.waitsFor(id) === true) return maker;
    // An id that the application chose.
    for (const client of this.#clients.values()) if (client.waitsFor(id)) return client;
    return undefined;
  }

  #checkOwn(client: ReplyClient, id: string): void {
    for (const other of this.#clients.values()) {
      if (other === client || !other.waitsFor(id)) continue;
      throw new Error(`a request of another client with the correlation id '${id}' waits already`);
    }
  }
}
