/** Waits for a time in milliseconds, or until the signal aborts. It leaves no timer behind. */
export function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener('abort', end);
  });
}

/** The pause after the last change of a form, before the server is asked, in milliseconds. */
const pause = 300;

/**
 * Waits until the user has stopped changing a form, so that the server is not asked for each key.
 * @param signal aborts at the next change
 * @throws the reason of the signal if it aborts
 */
export async function pauseOfTyping(signal: AbortSignal): Promise<void> {
  await wait(pause, signal);
  signal.throwIfAborted();
}
