import type { WritePacket } from '@nestjs/microservices';
import type { Message } from '../../engine/message/index.js';
import { replyOf } from '../features/envelope/packet.js';
import { decodePayload } from '../core/payload.js';
import type { PendingRequest, PendingRequests } from './pending.js';
import { hasReplyKind, replyKindOf } from './replies.js';

/**
 * Gives a reply to the request that waits for it.
 * @param arePackets whether a reply without a kind is a packet of Nest's server
 */
export function takeAnswer(message: Message, pending: PendingRequests, arePackets: boolean): void {
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
