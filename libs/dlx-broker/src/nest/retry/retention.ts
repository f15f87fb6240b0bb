import { type Field, isShortstr, longstr, maxShortstrBytes } from '../../engine/message/index.js';
import { DlxConfigurationError, parseDuration, shown, shownDuration } from '../../platform/options/index.js';
import type { Wait } from './backoff.js';
import { atLeastOnce, type WaitQueueType } from './wait-queue-names.js';

/** How long a parking lot keeps a message, and where the message goes then. */
export interface Retention {
  /** Milliseconds from the parking on. */
  readonly after: number;
  /** The queue that gets the message with its history; undefined if the message is dropped. */
  readonly archive: string | undefined;
}

/** The parts of a retry policy that say how long its parking lot keeps a message. */
interface Kept {
  readonly parkFor?: Wait;
  readonly onExpiry?: 'archive' | 'drop';
}

/** The retention of a policy; undefined if parked messages stay. @throws DlxConfigurationError */
export function retentionOf({ parkFor, onExpiry }: Kept, parkingLot: string, origin: string): Retention | undefined {
  if (parkFor === undefined) {
    if (onExpiry === undefined) return undefined;
    throw new DlxConfigurationError(
      `${origin}: onExpiry says what follows parkFor, which is missing; add parkFor: '90d'`,
    );
  }
  const after = parseDuration(parkFor, `${origin}: parkFor`);
  if (after === 0) {
    throw new DlxConfigurationError(
      `${origin}: parkFor is 0, so nothing would be parked; leave it out to park for ever`,
    );
  }
  if (onExpiry !== undefined && onExpiry !== 'archive' && onExpiry !== 'drop') {
    throw new DlxConfigurationError(`${origin}: onExpiry is ${shown(onExpiry)}; write 'archive' or 'drop'`);
  }
  const archive = onExpiry === 'drop' ? undefined : `${parkingLot}.archive`;
  if (archive !== undefined && !isShortstr(archive)) {
    throw new DlxConfigurationError(
      `${origin}: the name of the archive, '${archive}', is longer than ${maxShortstrBytes} bytes; set a shorter parkingLot`,
    );
  }
  return { after, archive };
}

/**
 * The arguments of a parking lot by which it keeps messages for a time. A quorum queue keeps each message until the archive has it.
 */
export function retentionArguments(
  { after, archive }: Retention,
  type: WaitQueueType,
): readonly (readonly [string, Field])[] {
  const ttl = ['x-message-ttl', { type: 'l', value: after }] as const;
  if (archive === undefined) return [ttl];
  return [
    ttl,
    ['x-dead-letter-exchange', longstr('')],
    ['x-dead-letter-routing-key', longstr(archive)],
    ...(type === 'quorum' ? atLeastOnce : []),
  ];
}

/** The arguments in which an existing parking lot may differ: the arguments of a queue cannot change with its policy. */
export const retentionArgumentNames: readonly string[] = [
  'x-message-ttl',
  'x-dead-letter-exchange',
  'x-dead-letter-routing-key',
  ...atLeastOnce.map(([name]) => name),
];

/** The definition of a policy that makes an existing queue keep messages for this time. */
export const retentionPolicy = ({ after, archive }: Retention): Readonly<Record<string, string | number>> => ({
  'message-ttl': after,
  ...(archive !== undefined && { 'dead-letter-exchange': '', 'dead-letter-routing-key': archive }),
});

/** A parking lot with its retention, for logs: `orders.parked for 90d, then orders.parked.archive`. */
export const lotText = (parkingLot: string, retention: Retention | undefined): string =>
  retention === undefined ? parkingLot : `${parkingLot} ${retentionText(retention)}`;

/** How long a parking lot keeps a message, for logs: `for 90d, then orders.parked.archive`. */
export function retentionText({ after, archive }: Retention): string {
  return `for ${shownDuration(after)}, then ${archive ?? 'dropped'}`;
}
