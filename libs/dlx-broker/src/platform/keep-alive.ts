import { maxTimerDelay } from './max-timer-delay.js';

/** Keeps this process alive. @returns a function that stops keeping it alive */
export function keepAlive(): () => void {
  const timer = setInterval(() => {}, maxTimerDelay);
  return () => clearInterval(timer);
}
