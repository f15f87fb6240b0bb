import { emptyTable, type FieldTable } from '../../engine/message/index.js';
import { timeOfMove } from '../tracing/index.js';
import type { FailureLog } from './failure-log.js';
import type { Feature, Move, Settled } from './feature.js';
import type { HandlerMeter } from './handler-meter.js';
import type { Failed, Handling, Taken } from './handler.js';
import type { OutcomeEvents } from './outcome-events.js';

/** Counts of messages by their outcomes, since the start. */
export interface OutcomeCounts {
  acked: number;
  rejected: number;
  retried: number;
  parked: number;
  /** Messages that come again as the same attempt, because a service was away. */
  held: number;
  /** Messages that a handler dropped, by `throw new Drop()`. */
  dropped: number;
  /** Messages that were handled before, and were acknowledged without the handler (`@Idempotent`). */
  duplicates: number;
  /** Messages with a routing key for which their queue has no handler. */
  unknownPattern: number;
  undecodable: number;
  /** Messages that the handler settled itself. A message that returned to its queue because its connection was lost is not counted. */
  byHand: number;
}

type Following<K extends keyof Feature> = Feature & Required<Pick<Feature, K>>;

const having = <K extends keyof Feature>(features: readonly Feature[], part: K): readonly Following<K>[] =>
  features.filter((each): each is Following<K> => each[part] !== undefined);

/** Reports what becomes of messages to all that follow it: features, counts, metrics, the log, and the subscribers of events. */
export class Reports {
  readonly counts: OutcomeCounts = {
    acked: 0,
    rejected: 0,
    retried: 0,
    parked: 0,
    held: 0,
    dropped: 0,
    duplicates: 0,
    unknownPattern: 0,
    undecodable: 0,
    byHand: 0,
  };
  /** Measures the handlers; undefined while metrics are off. */
  meter: HandlerMeter | undefined;
  readonly #features: readonly Following<'settled'>[];
  readonly #noting: readonly Following<'headers'>[];
  readonly #grouping: Following<'fingerprint'> | undefined;

  constructor(
    features: readonly Feature[],
    private readonly log: FailureLog,
    private readonly events: OutcomeEvents,
  ) {
    this.#features = having(features, 'settled');
    this.#noting = having(features, 'headers');
    [this.#grouping] = having(features, 'fingerprint');
  }

  /** Reports a success. It is only counted if no feature and no subscriber follows it: most messages end like this. */
  acked(handling: Handling): void {
    if (this.#features.length === 0 && !this.events.observed) {
      this.counts.acked++;
      return;
    }
    const { delivery, planned, context } = handling;
    this.settled({ delivery, planned, handling }, { kind: 'acked', attempt: context.attempt });
  }

  settled(taken: Taken, settled: Settled): void {
    for (const each of this.#features) each.settled(taken, settled);
    if (settled.failure !== undefined) return; // it is not settled yet
    this.#count(settled);
    this.meter?.settled(taken, settled);
    this.log.settled(taken, settled);
    this.events.settled(taken, settled);
  }

  /** The present time for {@link Settled.since}; undefined if no feature follows. */
  get since(): number | undefined {
    return this.#features.length > 0 ? timeOfMove() : undefined;
  }

  /** The headers that a failure adds to the successor of its message. */
  headers(failed: Failed, move: Move): FieldTable {
    let headers = emptyTable;
    for (const each of this.#noting) headers = each.headers(failed, move, headers);
    return headers;
  }

  /** A function for the fingerprint of a failure; undefined if no feature has one. */
  fingerprint(failed: Failed): (() => string) | undefined {
    const grouping = this.#grouping;
    return grouping && (() => grouping.fingerprint(failed));
  }

  #count({ kind, isDuplicate }: Settled): void {
    const name = isDuplicate === true ? 'duplicates' : kind === 'by hand' ? 'byHand' : kind;
    if (name in this.counts) this.counts[name as keyof OutcomeCounts]++;
  }
}
