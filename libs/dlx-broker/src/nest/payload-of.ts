import type { BackendDelivery } from '../backend/index.js';
import { deathsOf } from '../message/index.js';
import { decodePayload } from './payload.js';

/**
 * The payload for a handler. A message that another queue rejected may be undecodable: a handler of dead letters gets its bytes,
 * because a second reject would lose the message.
 */
export function payloadOf(delivery: BackendDelivery): unknown {
  const { message } = delivery;
  try {
    return decodePayload(message);
  } catch (error) {
    const { queue } = delivery;
    const deaths = deathsOf(message);
    const rejectedElsewhere =
      deaths.some(({ reason }) => reason === 'rejected') && !deaths.some((death) => death.queue === queue);
    if (rejectedElsewhere) return Buffer.from(message.body);
    throw error;
  }
}
