import type { ReadPacket, WritePacket } from '@nestjs/microservices';
import { type Publication, UnroutableError } from '../../backends/index.js';
import type { Message } from '../../engine/message/index.js';
import { callEach, shownText } from '../../platform/index.js';
import { DlxConfigurationError } from '../../platform/options/index.js';
import { describeError } from '../core/failure.js';
import { decodePayload } from '../core/payload.js';
import { replyOf } from '../features/envelope/packet.js';
import type { PublishSpan, SafeTracing } from '../tracing/index.js';
import { type PendingRequest, PendingRequests } from './pending.js';
import { DlxRecord } from './record-builder.js';
import { hasReplyKind, replyKindOf } from './replies.js';
import type { ReplyClient, SharedReplies } from './shared-replies.js';

/** The requests of a client, from the publish to the last answer. */
export class AskedRequests {
  readonly #pending: PendingRequests;
  readonly #client: ReplyClient;

  /**
   * @param prefix of the ids of its requests
   * @param replies shared with the clients of other targets
   * @param arePackets true if requests and replies are packets of Nest
   */
  constructor(
    prefix: string,
    readonly replies: SharedReplies,
    arePackets: boolean,
    private readonly tracing: SafeTracing | undefined,
    /** Called with what a subscriber threw when it got its answer. */
    private readonly thrown: (error: unknown) => void,
  ) {
    this.#pending = new PendingRequests(prefix);
    this.#client = {
      prefix,
      waitsFor: (id) => this.#pending.get(id) !== undefined,
      answered: (message) => {
        try {
          takeAnswer(message, this.#pending, arePackets);
        } catch (error) {
          this.thrown(error);
        }
      },
      lost: (reason) => {
        const lost = this.#pending.takeAll();
        return () => this.#fail(lost, reason);
      },
    };
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
      const request = (asked = this.#pending.add(callback, record?.properties.correlationId));
      const publication = publicationOf(request.id);
      const span = (published = this.tracing?.published(publication));
      this.replies.request(this.#client, span?.publication ?? publication, (failure) => {
        span?.end(failure);
        if (failure !== undefined && this.#pending.delete(request))
          this.#fail([request], explained(failure, publication));
      });
      return () => {
        if (!this.#pending.delete(request)) return;
        request.forget();
        this.replies.giveUp(request.id);
      };
    } catch (error) {
      if (asked !== undefined) this.#pending.delete(asked);
      published?.end(describeError(error));
      callback({ err: error });
      return () => undefined;
    }
  }

  /** Fails the requests without a last answer, and leaves the shared replies. */
  close(reason: Error): void {
    const requests = this.#pending.takeAll();
    for (const { id } of requests) this.replies.giveUp(id);
    this.replies.leave(this.#client);
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
function takeAnswer(message: Message, pending: PendingRequests, arePackets: boolean): void {
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
function takePacket(message: Message, asked: PendingRequest, pending: PendingRequests): void {
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
