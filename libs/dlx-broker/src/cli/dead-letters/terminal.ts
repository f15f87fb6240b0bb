import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { CtlFailure, exit } from '../ctl/exit.js';
import type { Terminal } from './ask.js';

/** The terminal of this process. */
export function terminalOf({ stdin, stdout, stderr, env }: NodeJS.Process): Terminal {
  const isAnswered = stdin.isTTY === true && stderr.isTTY === true;
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
    ...(isAnswered && {
      confirm: async (question) => {
        const lines = createInterface({ input: stdin, output: stderr });
        // Ctrl+D closes the input without an answer.
        const closed = once(lines, 'close').then(() => '');
        const answer = await Promise.race([lines.question(`${question} [y/N] `), closed]).finally(() => lines.close());
        return /^y(es)?$/i.test(answer.trim());
      },
      edit: async (path) => {
        // A shell, because the variable may hold options: EDITOR='code --wait'.
        const editor = spawn('sh', ['-c', `${env['VISUAL'] || env['EDITOR'] || 'vi'} "$1"`, 'sh', path], {
          stdio: 'inherit',
        });
        const ended = once(editor, 'exit').catch((fault: NodeJS.ErrnoException) => {
          const why = fault.code === 'ENOENT' ? "there is no shell 'sh', as on Windows outside WSL" : fault.message;
          throw new CtlFailure(
            exit.unavailable,
            `Error: no editor can be opened, because ${why}; give --body, --header or --remove-header`,
          );
        });
        const [code] = (await ended) as [number | null];
        return code ?? 1;
      },
    }),
    onInterrupt: (then) => {
      process.once('SIGINT', then);
      return () => void process.off('SIGINT', then);
    },
  };
}
