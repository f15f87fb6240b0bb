import { doNothing } from '../../platform/index.js';
import type { Attempts } from './attempts.js';
import { type Handling, type Outcome, succeeded } from './handler.js';
import type { Settlement } from './settlement.js';

/**
 * Gives a message to several handlers, all of which have to succeed. The worst of their outcomes settles it.
 * @param handlings one for each handler
 * @param ended called when all have ended
 */
export function runShared(
  handlings: readonly Handling[],
  data: unknown,
  attempts: Attempts,
  settlement: Settlement,
  ended: () => void,
): void {
  let left = handlings.length;
  let worst: readonly [Outcome, Handling] = [succeeded, handlings[0]!];
  for (const handling of handlings) {
    attempts.shared(handling, data, (outcome) => {
      if (rankOf(outcome) > rankOf(worst[0])) {
        settlement.outvoted(...worst);
        worst = [outcome, handling];
      } else if (handling !== worst[1]) settlement.outvoted(outcome, handling);
      if (--left > 0) return;
      if (rankOf(worst[0]) === 0) handling.replies?.complete(doNothing);
      settlement.end(...worst);
      ended();
    });
  }
}

/** The worst of several outcomes settles a message: a failure, or else a handler that was busy. */
const rankOf = (outcome: Outcome): number => (outcome.failed ? 2 : outcome.isBusy === true ? 1 : 0);
