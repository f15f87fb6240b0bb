import type { OwnTimers } from '../../../platform/index.js';
import type { HealthProbe } from './options.js';

/** How long a probe may take to answer, in milliseconds. */
const patience = 10_000;

/**
 * Asks a probe. A probe that fails, or does not answer within 10 seconds, decides nothing: then a message is tried, because a faulty
 * probe must not stop a queue for ever.
 * @param fault called with the reason when the probe decided nothing
 * @returns a promise that never rejects. It stays open if the timers are closed before the probe answers
 */
export function askProbe(probe: HealthProbe, timers: OwnTimers, fault: (error: unknown) => void): Promise<boolean> {
  return new Promise((resolve) => {
    let isOver = false;
    const decide = (answer: unknown): void => {
      if (isOver) return;
      isOver = true;
      cancel();
      if (typeof answer !== 'boolean') fault(answer);
      resolve(answer !== false);
    };
    const cancel = timers.after(patience, () => decide(new Error(`it did not answer within ${patience} ms`)));
    const noAnswer = (answer: unknown): unknown =>
      typeof answer === 'boolean' ? answer : new TypeError('it answered neither true nor false');
    const failed = (error: unknown): void => decide(typeof error === 'boolean' ? new Error(String(error)) : error);
    try {
      Promise.resolve(probe.isUp()).then((answer) => decide(noAnswer(answer)), failed);
    } catch (error) {
      failed(error);
    }
  });
}
