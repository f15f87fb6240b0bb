import type { Alarms, MemoryUse } from '../../platform/alarms/index.js';
import { AmqpError } from '../../engine/broker/index.js';
import type { ClientConnection } from './connection.js';

/** What {@link MemoryRelief} needs. */
export interface MemoryReliefRules {
  readonly alarms: Alarms;
  readonly memory: () => MemoryUse;
  /** Milliseconds; see `limits.unfinishedUnderAlarm`. */
  readonly timeout: number;
  /**
   * Bytes that all connections together may have received without being read further. Blocked publishers have some each, as on
   * RabbitMQ; above this many they count as well. See `limits.unfinishedFrames`.
   */
  readonly unread: number;
  /** Gets a line for each connection that was closed. */
  readonly notice: (text: string) => void;
}

/**
 * Ends a memory alarm that would never end by itself: one that lasts because of messages that are not complete or not
 * committed. Their publishers wait for the alarm, and it waits for them (decision 104).
 */
export class MemoryRelief {
  readonly #rules: MemoryReliefRules;
  /** When the alarm was raised, or when connections were checked last. */
  #since: number | undefined;

  constructor(rules: MemoryReliefRules) {
    this.#rules = rules;
  }

  /** @param now milliseconds of a clock that never goes back */
  check(now: number, connections: Iterable<ClientConnection>): void {
    const { alarms, memory, timeout } = this.#rules;
    if (!alarms.raised.includes('memory')) return void (this.#since = undefined);
    this.#since ??= now;
    if (now - this.#since < timeout) return;
    this.#since = now;
    const { used, limit } = memory();
    this.#relieve(used - limit, connections);
  }

  /** Closes those that hold most, until so many bytes are free; none when all of them together hold less. */
  #relieve(needed: number, connections: Iterable<ClientConnection>): void {
    const all = [...connections];
    const counts = all.reduce((sum, { waiting }) => sum + waiting, 0) > this.#rules.unread;
    const held = all
      .map((connection) => ({ connection, bytes: heldBackBy(connection) + (counts ? connection.waiting : 0) }))
      .filter(holds);
    const sum = held.reduce((before, { bytes }) => before + bytes, 0);
    if (needed <= 0 || sum < needed) return;
    held.sort((one, other) => other.bytes - one.bytes);
    let missing = needed;
    for (const { connection, bytes } of held) {
      if (missing <= 0) return;
      missing -= bytes;
      this.#rules.notice(
        `memory is short: closes ${connection.engine.client?.name}, whose unfinished or unread messages hold ${bytes} bytes`,
      );
      connection.shed(tooLong(bytes));
    }
  }
}

/** Bytes of a connection's frames and messages that are not complete or not committed. Looks at every channel. */
export function heldBackBy({ isOpen, held, unfinished, channels }: ClientConnection): number {
  if (!isOpen) return 0;
  let bytes = held + unfinished.bytes;
  for (const { engine } of channels.values()) bytes += engine.transaction?.bytes ?? 0;
  return bytes;
}

const holds = ({ bytes }: { readonly bytes: number }): boolean => bytes > 0;

const tooLong = (bytes: number): AmqpError =>
  new AmqpError(
    'RESOURCE_ERROR',
    `memory is short, and ${bytes} bytes of it are held by messages of this connection that are not complete, not committed or not read yet; publish them again, or raise limits.unfinishedUnderAlarm`,
  );
