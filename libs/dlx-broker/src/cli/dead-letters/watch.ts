import { setTimeout as wait } from 'node:timers/promises';
import { CtlFailure, exit } from '../ctl/exit.js';
import type { CommandOutput } from './ask.js';

export interface WatchFlags {
  /** Seconds, or true for the default. */
  readonly watch?: string | true;
}

const presetSeconds = 2;
const leastSeconds = 0.1;

/**
 * Shows a string, with `--watch` again and again until an interrupt.
 * @param ask gets the text from the server
 * @throws CtlFailure of `ask`, which ends the watch
 */
export async function watching(flags: WatchFlags, ask: () => Promise<string>, output: CommandOutput): Promise<void> {
  if (flags.watch === undefined) return output.out(await ask());
  const milliseconds = secondsIn(flags.watch) * 1_000;
  const end = new AbortController();
  const undo = output.terminal?.onInterrupt(() => end.abort());
  try {
    while (!end.signal.aborted) {
      const text = await ask();
      // Home, then the text, then the rest of the old text is erased: nothing flickers.
      if (output.terminal?.clears === true)
        await output.terminal.write(`\u001b[H${text.replaceAll('\n', '\u001b[K\n')}\u001b[K\n\u001b[J`);
      else output.out(`${text}\n`);
      await wait(milliseconds, undefined, { signal: end.signal }).catch(() => undefined);
    }
  } finally {
    undo?.();
  }
}

function secondsIn(given: string | true): number {
  if (given === true) return presetSeconds;
  const seconds = /^[0-9]{1,5}(\.[0-9]+)?$/.test(given) ? Number(given) : NaN;
  if (seconds >= leastSeconds) return seconds;
  throw new CtlFailure(
    exit.usage,
    `Error: --watch must be a number of seconds, at least ${leastSeconds}, but is '${given}'`,
  );
}
