import { CtlFailure, exit } from '../ctl/exit.js';
import type { Terminal } from './ask.js';

/** The terminal of this process. */
export function terminalOf({ stdout, stderr }: NodeJS.Process): Terminal {
  return {
    width: stderr.isTTY === true ? stderr.columns || 80 : undefined,
    clears: stdout.isTTY === true,
    draw: (text) => void stderr.write(text),
    write: (text) =>
      new Promise((resolve, reject) => {
        stdout.write(text, (error) => {
          if ((error as NodeJS.ErrnoException | null | undefined)?.code === 'EPIPE') return; // this process ends
          if (error) reject(new CtlFailure(exit.unavailable, `Error: the output cannot be written: ${error.message}`));
          else resolve();
        });
      }),
    onInterrupt: (then) => {
      process.once('SIGINT', then);
      return () => void process.off('SIGINT', then);
    },
  };
}
