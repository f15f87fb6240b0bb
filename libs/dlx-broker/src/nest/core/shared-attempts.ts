import { doNothing } from '../../platform/index.js';
import type { AttemptRun } from './attempt.js';
import { type Handling, type Outcome, succeeded } from './handler.js';
import type { Settlement } from './settlement.js';

/** Gives a message to several handlers, all of which have to succeed. The worst of their outcomes settles it. It never rejects. */
export async function runShared(attempts: readonly AttemptRun[], settlement: Settlement): Promise<void> {
  const [first] = attempts as readonly [AttemptRun];
  try {
    for (const attempt of attempts) attempt.sharing = attempts;
    const outcomes = await Promise.all(attempts.map((attempt) => outcomeOf(attempt)));
    const ends = outcomes.map((outcome, index) => [outcome, attempts[index] as Handling] as const);
    const worst = ends.reduce((one, other) => (rankOf(other[0]) > rankOf(one[0]) ? other : one));
    for (const other of ends) if (other !== worst) settlement.outvoted(...other);
    if (rankOf(worst[0]) > 0) return settlement.end(...worst);
    first.replies?.complete(doNothing);
    settlement.end(outcomes.find((outcome) => !outcome.failed && outcome.skipped === undefined) ?? succeeded, first);
  } catch (fault) {
    settlement.rescue(
      first,
      fault,
      attempts.some(({ outcome }) => outcome?.failed),
    );
  }
}

/** The outcome of one of several attempts. */
const outcomeOf = (attempt: AttemptRun): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    attempt.run((outcome) => {
      attempt.outcome = outcome;
      attempt.hasEnded?.(outcome);
      resolve(outcome);
    }, reject);
  });

/** The worst of several outcomes settles a message: a failure, or else a handler that has to wait. */
const rankOf = (outcome: Outcome): number => (outcome.failed ? 2 : outcome.skipped === 'busy' ? 1 : 0);
