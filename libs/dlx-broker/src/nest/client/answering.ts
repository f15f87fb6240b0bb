import type { AsyncResource } from 'node:async_hooks';
import type { Backend, BackendDelivery } from '../../backends/index.js';
import type { Handler } from '../core/handler.js';
import type { Packet } from '../features/envelope/packet.js';
import { PacketReplies } from '../features/envelope/packet-replies.js';
import { lateValues, Replies } from './replies.js';
import { Requesters } from './requesters.js';

/** Says which messages of a queue are to be answered, and how. */
export class Answering {
  readonly #requesters: Requesters;
  readonly #late = lateValues();

  constructor(private readonly backend: Backend) {
    this.#requesters = new Requesters(backend);
  }

  /** A packet with an id wants an answer, whatever the kind of its handler. @returns undefined for a message without an answer */
  for(
    { message }: BackendDelivery,
    packet: Packet | undefined,
    handler: Handler | undefined,
    own: AsyncResource,
  ): Replies | undefined {
    const { replyTo, correlationId } = message.own;
    const isWanted = packet === undefined ? handler?.kind === 'request' : packet.id !== undefined;
    if (replyTo === undefined || !isWanted) return undefined;
    const Kind = packet === undefined ? Replies : PacketReplies;
    return new Kind(this.backend, this.#requesters, this.#late, replyTo, correlationId, own);
  }
}
