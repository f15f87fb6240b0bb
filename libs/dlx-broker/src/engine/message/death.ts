import type { FieldTable } from './field-table.js';

/** Why a message was dead-lettered, in the words of `x-death` (rule A1). */
export type DeathReason = 'rejected' | 'expired' | 'maxlen' | 'delivery_limit';

/** All deaths of a message in one queue for one reason: an entry of its `x-death` header (rules H5, H6). */
export interface DeathEntry {
  readonly queue: string;
  /** One of the four reasons, or any text in a header that a client wrote. */
  readonly reason: DeathReason | (string & {});
  /** The exchange to which the message was published before its first death here; empty for the default exchange. */
  readonly exchange: string;
  /** The publish key, then the CC keys in order; never BCC keys. */
  readonly routingKeys: readonly string[];
  /** How often the message died here for this reason. */
  readonly count: number;
  /** When the message first died here for this reason: milliseconds since 1970, in whole seconds. */
  readonly time: number;
  /** The `expiration` with which it was published. Dead-lettering removes that property (rule H3). */
  readonly originalExpiration?: string;
}

/** Where and why a message died the first time (rule H8). */
export type FirstDeath = Pick<DeathEntry, 'reason' | 'queue' | 'exchange'>;

/** The differences between RabbitMQ versions in the history of deaths. */
export interface Dialect {
  /** Keep `x-last-death-reason`, `-queue` and `-exchange` up to date (rule W2). */
  readonly lastDeathHeaders: boolean;
  /** Continue an `x-death` that a client published; otherwise it is replaced (rules H9, W3). */
  readonly trustsClientDeaths: boolean;
  /** Write `original-expiration` as a parsed number, and as the first field (rule W4). */
  readonly parsesExpiration: boolean;
}

/** The deaths of a message. Immutable: messages that died alike share one history. */
export interface Deaths {
  /**
   * The very first death (rule H8). Undefined for a history that a client began: it is in the headers of one message, which
   * shares it with no other (rule H9).
   */
  readonly first: DeathEntry | undefined;
  /**
   * The history after one more death.
   * @param death with a count of 1
   * @param own the headers of the message without its deaths
   */
  record(death: DeathEntry, own: FieldTable | undefined, dialect: Dialect): Deaths;
  /** Whether delivery to this queue would close a cycle in which no consumer rejected the message (rules I1 to I6). */
  closesCycle(queue: string): boolean;
  /** The message's own headers after the last recorded death. */
  own(headers: FieldTable | undefined): FieldTable | undefined;
  /**
   * The deaths, newest first (rule H7).
   * @param expiration the message's own, which its first death removed
   */
  entries(expiration: string | undefined): readonly DeathEntry[];
  /** The headers as consumers see them: the message's own, and the deaths. */
  headers(own: FieldTable | undefined, expiration: string | undefined): FieldTable | undefined;
}

/** The death of a message that had an expiration, with that expiration in it (rules H3, W4). */
export function withExpiration(death: DeathEntry, expiration: string, parsesExpiration: boolean): DeathEntry {
  const { queue, reason, exchange, routingKeys, count, time } = death;
  const originalExpiration = parsesExpiration ? String(Number(expiration)) : expiration;
  return { queue, reason, exchange, routingKeys, count, time, originalExpiration };
}
