import type { BackendDelivery } from '../../../backends/index.js';
import { type FieldTable, type Field, int32, int64, type Message } from '../../../engine/message/index.js';
import { holdsOf, failingSince, heldUntil, retryHeaders } from '../../../platform/history/index.js';
import type { Handling, PlannedHandler } from '../../core/handler.js';
import { Unavailable } from '../../core/outcomes.js';
import type { Retrying } from '../../core/retrying.js';
import type { Hold, Circuit } from './circuit.js';

/** The wait of a message whose handler has no circuit and names no wait, in milliseconds. */
const waitWithoutCircuit = 30_000;

/** A message that is held, or may be. */
export interface Holdable {
  readonly delivery: BackendDelivery;
  readonly planned: PlannedHandler;
  readonly epoch?: Handling['epoch'];
  /** Undefined if no handler had the message. */
  readonly error: unknown;
}

/** Holds messages: they come again later, as the same attempt. */
export class Holding {
  constructor(
    private readonly retrying: Retrying,
    private readonly now: () => number,
  ) {}

  /** Informs the circuit of a failure. @returns undefined if the failure is an ordinary one */
  decide({ delivery, planned, epoch = 0, error }: Holdable): Hold | undefined {
    const { circuit, retry } = planned;
    if (circuit !== undefined) return circuit.failed({ error, retry, epoch, holds: holdsOf(delivery.message) });
    return error instanceof Unavailable ? { wait: error.wait ?? waitWithoutCircuit, isCounted: true } : undefined;
  }

  /**
   * Publishes the message to a wait queue.
   * @param headers of its error
   * @param done called with what the headers lack, or the failure: then the message is unsettled
   */
  hold({ delivery, planned }: Holdable, hold: Hold, headers: FieldTable, done: Parameters<Retrying['hold']>[3]): void {
    const wait = this.retrying.nearest(delivery, hold.wait);
    const after = afterOutage(delivery.message, delivery.queue, planned.circuit, headers, this.now(), {
      ...hold,
      wait,
    });
    this.retrying.hold(delivery, wait, after, done);
  }

  /** The headers of a message that failed, and since when it fails without the outages of its circuit. */
  failed(
    { delivery: { message, queue }, planned: { circuit } }: Holdable,
    headers: FieldTable,
  ): AfterOutage | undefined {
    return circuit === undefined ? undefined : afterOutage(message, queue, circuit, headers, this.now());
  }
}

/** What a successor of a message says about outages. */
interface AfterOutage {
  readonly headers: FieldTable;
  /** When the message failed for the first time, later by the outages since. Undefined if it never failed. */
  readonly failingSince: number | undefined;
}

/**
 * Leaves outages out of the time for which a message fails: its deadline shall not end because a service is away.
 * @param now milliseconds since 1970
 * @param hold undefined if the message is not held, but failed
 */
function afterOutage(
  message: Message,
  queue: string,
  circuit: Circuit | undefined,
  headers: FieldTable,
  now: number,
  hold?: Hold,
): AfterOutage {
  const first = failingSince(message, queue);
  const counted = Math.max(first ?? now, heldUntil(message) ?? 0);
  const outage = circuit === undefined || first === undefined ? 0 : circuit.outageSince(counted);
  const wait = hold?.wait ?? 0;
  if (outage + wait === 0) return { headers, failingSince: first };
  const all = new Map<string, Field>(headers);
  if (first !== undefined) all.set(retryHeaders.heldUntil, int64(Math.floor(now + wait)));
  if (hold?.isCounted === true) all.set(retryHeaders.holds, int32(holdsOf(message) + 1));
  return { headers: all, failingSince: first === undefined ? undefined : first + outage + wait };
}
