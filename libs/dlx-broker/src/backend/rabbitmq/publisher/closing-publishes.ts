import type { ChannelClosedError } from '../client/errors.js';
import type { Outgoing } from './outgoing.js';

/**
 * Finds the publishes that made the server close a channel. The texts of 404 and 403 name the exchange, and every publish to it would
 * fail. The texts of other codes name nothing, so the publish is known only if it was the only unconfirmed one.
 * @param doubtful what was unconfirmed when the channel ended, in the order of publishing
 * @returns these publishes; none if they are unknown
 */
export function closingPublishes(
  { code, text }: ChannelClosedError,
  doubtful: readonly Outgoing[],
): readonly Outgoing[] {
  if (doubtful.length === 1) return doubtful;
  if (code !== 404 && code !== 403) return [];
  return doubtful.filter(({ publication: { exchange, routingKey } }) => {
    if (!text.includes(`exchange '${exchange === '' ? 'amq.default' : exchange}'`)) return false;
    return !text.includes("access to topic '") || text.includes(`access to topic '${routingKey}'`);
  });
}

/** Reply codes with which a server closes a connection for an error of the client. Other codes are faults of server or network. */
const codesOfClientErrors: ReadonlySet<number | undefined> = new Set([501, 502, 503, 504, 505, 506, 530, 540]);

/** True if an unconfirmed publish may have ended the connection, and would end the next one too. */
export const isCausedByPublish = (code: number | undefined): boolean => codesOfClientErrors.has(code);
