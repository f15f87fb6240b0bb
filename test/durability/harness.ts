import type { Pace, ProfileName } from '../../libs/dlx-broker/src/engine/broker/index.js';
import type { Packing } from '../../libs/dlx-broker/src/engine/broker/queue/backlog/index.js';
import { CountedNames } from '../../libs/dlx-broker/src/nest/testing/counted-names.js';
import type { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';

const patterns = {
  compile: (pattern: string) => ({ matches: (name: string) => pattern === '.*' || name === pattern }),
};
/** The options of every broker of these tests. */
export const lent = (clock: ManualClock, rabbitmq: ProfileName = '3.10') => ({
  clock,
  names: new CountedNames(),
  patterns,
  rabbitmq,
  // The short queues of these tests have rows, as long ones do.
  packing: { from: 3, rows: 2 },
});

/**
 * How queues of a random program have rows: in short pages, or in longer ones, in which more messages are alike. In every third program one
 * line has objects up to a higher limit for a while.
 */
export const packingBy = (seed: number): Packing => ({
  from: 3,
  rows: seed % 2 === 0 ? 2 : 6,
  ...(seed % 3 === 0 && { exemptions: { lines: 1, upTo: 9 } }),
});

/** A broker that does no work until it is woken, so that tests see the restored state. */
export function asleep(): { readonly pace: Pace; wake(): void } {
  const resumes: (() => void)[] = [];
  const pace = { budget: 0, later: (resume: () => void) => void resumes.push(resume) };
  const wake = (): void => {
    pace.budget = Infinity;
    for (let resume = resumes.shift(); resume !== undefined; resume = resumes.shift()) resume();
  };
  return { pace, wake };
}

/** An outbox of a client that reads nothing. */
export const silent = { deliver() {}, returned() {}, confirmed() {}, cancelled() {}, closed() {} };
