import { longestTimer } from './longest-timer.js';

/** Keeps this process alive. @returns ends this */
export function keepAlive(): () => void {
  const timer = setInterval(() => {}, longestTimer);
  return () => clearInterval(timer);
}
