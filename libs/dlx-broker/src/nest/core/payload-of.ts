import type { BackendDelivery } from '../../backends/index.js';
import { historyOf, retryHeaders } from '../../platform/history/index.js';
import { textAt } from '../../engine/message/index.js';
import { decodePayload } from './payload.js';

/**
 * The payload for a handler. A message that failed in another queue may be undecodable: a handler of dead letters or parked messages gets
 * its bytes, because a reject would lose the message.
 */
export function payloadOf(delivery: BackendDelivery): unknown {
  try {
    return decodePayload(delivery.message);
  } catch (error) {
    if (failedElsewhere(delivery)) return Buffer.from(delivery.message.body);
    throw error;
  }
}

/** An expired message may come from a queue that only delays it, and the own queue may have retried this one. */
function failedElsewhere({ message, queue }: BackendDelivery): boolean {
  const { headers } = message.own;
  if (headers?.get(retryHeaders.parked)?.value === true) return textAt(headers, retryHeaders.queue) !== queue;
  return historyOf(message).some((death) => death.reason !== 'expired' && death.queue !== queue);
}
