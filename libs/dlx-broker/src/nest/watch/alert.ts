/** The rules of `DlxBroker.watch`: the names of their options. */
export type WatchRule = 'olderThan' | 'atLeast' | 'perMinute' | 'newFingerprint';

/** What `DlxBroker.watch` emits: a queue reached the limit of a rule, or is well below it again. */
export interface DlxAlert {
  readonly kind: 'raised' | 'cleared';
  readonly rule: WatchRule;
  readonly queue: string;
  /** Milliseconds since 1970, by the broker's clock. */
  readonly at: number;
  /**
   * What was measured. `olderThan`: the age of the oldest dead letter in milliseconds. `atLeast`: messages. `perMinute`: messages that
   * came in the last minute. `newFingerprint`: new fingerprints since it was raised.
   */
  readonly value: number;
  /** The limit of the rule, in the unit of `value`. */
  readonly limit: number;
  /** For `newFingerprint`, when it is raised: the fingerprint. */
  readonly fingerprint?: string;
}
