import type { TestChannel } from '../contract/driver.js';

/** One of a program's channels, and those that came after it when it was closed. */
export interface Slot {
  channel: TestChannel;
  /** Counts the channels that stood in this slot. */
  generation: number;
  readonly settled: Set<number>;
  /** How deliveries are settled by a transaction that is not committed yet, by delivery tag; undefined outside one. */
  transaction: Map<number, 'ack' | 'nack' | 'reject'> | undefined;
  /** Whether a transaction that is not committed yet holds a publish. */
  holdsPublish: boolean;
  /** The limit of consumers that start from now on; 0 when there is none. */
  prefetch: number;
  /** The shared limit of all its consumers. */
  shared: number;
}

/** What a new channel has. */
export const unused = (): Pick<Slot, 'transaction' | 'holdsPublish' | 'prefetch' | 'shared'> => ({
  transaction: undefined,
  holdsPublish: false,
  prefetch: 0,
  shared: 0,
});
