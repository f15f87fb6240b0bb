import type { FieldTable } from '../../../engine/message/index.js';
import type { EncodedPayload } from '../../core/payload.js';
import { Replies, type ReplyKind } from '../../client/replies.js';
import { encodeReply } from './packet.js';

/** Answers a request of `ClientRMQ`, in packets of Nest. */
export class PacketReplies extends Replies {
  protected override headersOf(): FieldTable | undefined {
    return undefined;
  }

  protected override encode(kind: ReplyKind, value: unknown): EncodedPayload {
    switch (kind) {
      case 'next':
        // A packet without any field would be a response and the end for the client.
        return encodeReply({ response: value === undefined ? null : value });
      case 'last':
        return encodeReply({ response: value, isDisposed: true });
      case 'complete':
        return encodeReply({ isDisposed: true });
      case 'error':
        return encodeReply({ err: value, isDisposed: true });
    }
  }
}
