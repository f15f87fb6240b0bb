import { randomBytes } from 'node:crypto';

/** What a log needs from its process. Simulations replace it. */
export interface Runtime {
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /** Calls back in the next turn of the event loop. */
  later(act: () => void): void;
  /** A random number of 32 bits for the header of a segment. */
  salt(): number;
}

/** The event loop and the random numbers of this process. */
export const processRuntime: Runtime = {
  now: () => performance.now(),
  later: (act) => void setImmediate(act),
  salt: () => randomBytes(4).readUInt32BE(),
};

/** Resolves in the next turn of the event loop. */
export const nextTurn = (runtime: Runtime): Promise<void> => new Promise((resolve) => runtime.later(resolve));

/** The same for work that can be given up. @throws the reason of the signal, if the signal is aborted by then */
export async function nextTurnUnless(signal: AbortSignal | undefined, runtime: Runtime): Promise<void> {
  await nextTurn(runtime);
  signal?.throwIfAborted();
}
