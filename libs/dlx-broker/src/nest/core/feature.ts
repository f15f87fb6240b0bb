import type { FieldTable } from '../../engine/message/index.js';
import type { Metric } from '../../server/metrics/index.js';
import type { HandlerLine } from '../log/log-events.js';
import type { Admission, Failed, Gate, Handler, OrderPlan, PlannedHandler, Reader, Step, Taken } from './handler.js';

/** Where a message goes whose handler failed: to another attempt or the parking lot, to the same attempt, or to a dead-letter exchange. */
export type Move = 'retry' | 'hold' | 'reject';

/**
 * What became of a message. `by hand`: its handler settled it itself. `requeued`: an internal error, or its connection was lost.
 * `handled` and `failed` are those of one of several handlers, of which another one decided.
 */
export interface Settled {
  readonly kind:
    'acked' | 'by hand' | 'requeued' | 'dropped' | 'rejected' | 'retried' | 'parked' | 'held' | 'handled' | 'failed';
  /** True if it was acked without its handler, because it was handled before. */
  readonly isDuplicate?: boolean;
  /** The error as it was thrown; absent after a success. */
  readonly error?: unknown;
  /** For `retried`, `parked` and `held`: where the message was published, and as which attempt. */
  readonly to?: string | undefined;
  readonly attempt?: number;
  /** What the log says of it after its last attempt; absent if it says nothing. */
  readonly fate?: string | undefined;
  /** For `parked` and `rejected`: makes a text that is the same for failures of the same cause; undefined if no feature does. */
  readonly fingerprint?: (() => string) | undefined;
  /** For `retried` and `held`: the wait in milliseconds. */
  readonly delay?: number | undefined;
  /** Why the broker refused that: then the message is unsettled, and it is tried again. */
  readonly failure?: Error | undefined;
  /** When its move began: milliseconds since 1970, of the machine; undefined if it was not moved. */
  readonly since?: number | undefined;
}

/** A warning for the log of the start. `topologyDoubtful` is logged when the handler is planned, others when it starts. */
export interface Warning {
  readonly event: HandlerLine;
  readonly text: string;
}

/** All that the core knows of a feature of handlers. */
export interface Feature {
  readonly name: string;
  /** Refuses handlers of a queue that cannot work together. @throws DlxConfigurationError naming them, the reason and a remedy */
  check?(queue: string, handlers: readonly Handler[]): void;
  /** Decides how many messages a queue gives, beside the gates of other features. Its handlers share the gate of the first one. */
  gate?(queue: string, first: PlannedHandler): Gate | undefined;
  /** Reads the messages of a queue. @throws DlxConfigurationError when its handlers differ in how to read them */
  reader?(queue: string, handlers: readonly PlannedHandler[]): Reader | undefined;
  /** True for a handler whose messages wait in hand: its retry policy needs no wait queues. */
  keepsInHand?(handler: Handler): boolean;
  /**
   * Keeps the messages of a queue in hand, in an order.
   * @param prefetch the most handlers at work, 0 for no limit
   * @throws DlxConfigurationError when its handlers differ in that
   */
  ordering?(queue: string, handlers: readonly PlannedHandler[], prefetch: number): OrderPlan | undefined;
  /** The waits of messages, in milliseconds, besides those of the retry policy: their queues are declared. @returns undefined for none */
  waits?(planned: PlannedHandler): { readonly delays: readonly number[]; readonly by: string } | undefined;
  /**
   * The step of a handler, asked once in each plan.
   * @param sharing all handlers of its queue
   * @returns undefined for a handler without the feature, whose messages then cost nothing more
   */
  step?(planned: PlannedHandler, sharing: readonly PlannedHandler[]): Step | undefined;
  /**
   * Wraps the call of a handler, asked once in each plan: it sees the payload, and the result before it is answered or awaited.
   * @returns undefined for a handler without the feature
   */
  call?(handler: Handler, invoke: Handler['invoke']): Handler['invoke'] | undefined;
  /**
   * The prefetch of a queue in place of another one.
   * @param prefetch as it was said, or by the features before this one; 0 for no limit
   * @throws DlxConfigurationError for handlers that cannot work with the feature
   */
  prefetch?(handlers: readonly PlannedHandler[], prefetch: number): number;
  /**
   * A queue gives no messages from now on, because its handlers stop or its gate closes: what waits for more of them need not wait.
   * @param isResting false: it gives messages
   */
  rests?(queue: string, isResting: boolean): void;
  /** The messages of a queue in hand with which nothing is done until time passes or a message comes. */
  waiting?(queue: string): number;
  /** @param declares false: the application declares no queue (option `declare`) */
  warnings?(planned: PlannedHandler, declares: boolean): readonly Warning[];
  /** Why a message that failed must not be rejected where a reject carries no headers; absent if its headers may be lost. */
  readonly needsHeaders?: string | undefined;
  /** Adds to the headers of a message whose handler failed, or that no handler got. @param before by the features before this one */
  headers?(failed: Failed, move: Move, before: FieldTable): FieldTable;
  /** A text that is the same for failures of the same cause; of the first feature that has one. */
  fingerprint?(failed: Failed): string;
  /** Called when a message was settled, or could not be. It never throws. */
  settled?(taken: Taken, settled: Settled): void;
}

/** A metric of a feature. Its first label is `broker`, the name of the broker. */
export type FeatureMetric<F extends Feature = Feature> = Metric<{ readonly broker: string; readonly feature: F }>;

const admissions: readonly Admission[] = ['none', 'one', 'all'];

/** One gate for several: a message passes all of them, in their order. @returns undefined for none */
export function composedGate(gates: readonly Gate[]): Gate | undefined {
  if (gates.length < 2) return gates[0];
  return {
    get admission() {
      return admissions.find((each) => gates.some(({ admission }) => admission === each)) as Admission;
    },
    get most() {
      return Math.min(...gates.map(({ most = Infinity }) => most));
    },
    asks: gates.some(({ asks }) => asks),
    get wait() {
      return Math.max(...gates.map(({ wait }) => wait));
    },
    admits: (message) => gates.every((gate) => gate.admits(message)),
    begin: (delivery) => gates.forEach((gate) => gate.begin(delivery)),
    succeeded: (delivery) => gates.forEach((gate) => gate.succeeded(delivery)),
    failed(failed) {
      const holds = gates.map((gate) => gate.failed(failed)); // each hears of the failure
      return holds.find((hold) => hold !== undefined);
    },
    ended: (delivery) => gates.forEach((gate) => gate.ended(delivery)),
    closedSince: (time) => Math.max(...gates.map((gate) => gate.closedSince(time))),
  };
}

/** One step for several, the first one outermost. @returns undefined for none */
export function composed(steps: readonly Step[]): Step | undefined {
  if (steps.length === 0) return undefined;
  return steps.reduceRight((inner, outer) => (attempt, next) => outer(attempt, () => inner(attempt, next)));
}
