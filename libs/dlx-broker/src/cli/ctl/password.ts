import type { Input } from './command.js';
import { type ExitCode, refused } from './exit.js';

/** A password from the command line, or else the first line of standard input. @throws CtlFailure */
export async function passwordOf({ args, stdin, note }: Input, at: number, missing: ExitCode): Promise<string> {
  const given = args[at];
  if (given !== undefined) return given;
  note('Password: ');
  const [line = ''] = (await stdin()).split(/\r?\n/);
  if (line === '') throw refused(missing, 'Password is not provided via argument or stdin');
  return line;
}

/** All of standard input; from a terminal one line, which is not shown while it is typed. */
export async function readInput(stdin: NodeJS.ReadStream): Promise<string> {
  if (stdin.isTTY) return typed(stdin);
  const parts: Buffer[] = [];
  for await (const part of stdin) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

function typed(stdin: NodeJS.ReadStream): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const end = (): void => {
      stdin.setRawMode(false);
      stdin.pause();
      stdin.off('data', take);
    };
    const take = (chunk: string): void => {
      for (const letter of chunk) {
        if (letter === '\r' || letter === '\n' || letter === '\u0004') return (end(), resolve(text));
        if (letter === '\u0003') return (end(), reject(new Error('interrupted')));
        text = letter === '\u007f' ? [...text].slice(0, -1).join('') : text + letter;
      }
    };
    stdin.setRawMode(true);
    stdin.setEncoding('utf8');
    stdin.on('data', take);
    stdin.resume();
  });
}
