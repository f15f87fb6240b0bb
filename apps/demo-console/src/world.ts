import { createBroker } from 'dlx-broker/engine';
import { ManualClock } from 'dlx-broker/testing';

/** The shop looks back on a day that passes in virtual time, in about a second. */
export const historyLength = 24 * 60 * 60_000;

const beginning = Date.now() - historyLength;

/** A manual clock, because the day before the start is simulated. Afterwards it follows the real time. */
export const clock = new ManualClock(beginning);

export const broker = createBroker({ clock });

/** Work that takes time, by the clock of the shop. */
export const work = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => clock.wakeAt(clock.now() + milliseconds, () => resolve()));

const minute = 60_000;

/** Partners of the shop, and the minutes of a period in which they are down. */
const outages = {
  nordbank: { period: 6 * 60, from: 200, to: 290 },
  mailer: { period: 8 * 60, from: 60, to: 130 },
  'hooks.example': { period: 12 * 60, from: 400, to: 520 },
} as const;

export type Partner = keyof typeof outages;

/** A partner is down in these minutes since the beginning, and the bank besides for twenty seconds of every two minutes. */
export function isDown(partner: Partner): boolean {
  const { period, from, to } = outages[partner];
  const since = clock.now() - beginning;
  const at = Math.floor(since / minute) % period;
  return (at >= from && at < to) || (partner === 'nordbank' && since % (2 * minute) < minute / 3);
}
