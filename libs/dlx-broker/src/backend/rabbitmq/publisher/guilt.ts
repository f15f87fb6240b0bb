import type { ChannelClosedError } from '../client/errors.js';
import type { Outgoing } from './outgoing.js';

/**
 * Which of the publishes on a channel made the server close it. 404 and 403 name the exchange, and all that name it would
 * fail; other codes name nothing, so only a publish that was alone on its channel is known to be the one.
 * @param doubtful what was unconfirmed when the channel ended, in the order of publishing
 * @returns the guilty ones; empty when that is unknown
 */
export function guiltyOf({ code, text }: ChannelClosedError, doubtful: readonly Outgoing[]): readonly Outgoing[] {
  if (doubtful.length === 1) return doubtful;
  if (code !== 404 && code !== 403) return [];
  return doubtful.filter(({ publication: { exchange, routingKey } }) => {
    if (!text.includes(`exchange '${exchange === '' ? 'amq.default' : exchange}'`)) return false;
    return !text.includes("access to topic '") || text.includes(`access to topic '${routingKey}'`);
  });
}

/** Reply codes of a connection that ended because of what was sent on it; the others are faults of server or network. */
const blamesTheClient: ReadonlySet<number | undefined> = new Set([501, 502, 503, 504, 505, 506, 530, 540]);

/** Whether one of the outstanding publishes may have ended the connection, and would end the next one too. */
export const isOurFault = (code: number | undefined): boolean => blamesTheClient.has(code);
