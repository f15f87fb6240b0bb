import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { CtlFailure, exit } from './exit.js';

/** A password from the command line, or else the first line of standard input. @throws CtlFailure */
export async function passwordOf(given: unknown, stdin: () => Promise<string>): Promise<string> {
  const [password = ''] = typeof given === 'string' ? [given] : (await stdin()).split(/\r?\n/);
  if (password !== '') return password;
  throw new CtlFailure(exit.usage, 'Error: the password is empty: write it behind the user, or to standard input');
}

/** All of standard input; from a terminal one line, which is not shown while it is typed. */
export async function readInput({ stdin, stderr }: NodeJS.Process): Promise<string> {
  if (!stdin.isTTY) return text(stdin);
  stderr.write('Password: ');
  const silent = new Writable({ write: (_part, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: silent, terminal: true });
  lines.once('SIGINT', () => process.exit(130));
  const line = await lines.question('');
  lines.close();
  stderr.write('\n');
  return line;
}
