import { Command, CommanderError } from 'commander';
import { addCtl } from '../../libs/dlx-broker/src/cli/ctl/index.js';

/** What a command line came to. */
export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly errors: string;
}

/** Runs a command of `ctl`. @param words of the command line, behind `dlx-broker ctl` */
export async function runCtl(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  stdin = '',
): Promise<Outcome> {
  const out: string[] = [];
  const errors: string[] = [];
  let code = -1;
  const program = new Command('dlx-broker').exitOverride().configureOutput({
    writeOut: (text) => void out.push(text),
    writeErr: (text) => void errors.push(text),
  });
  const output = {
    env,
    out: (text: string) => void out.push(`${text}\n`),
    error: (text: string) => void errors.push(`${text}\n`),
    stdin: async () => stdin,
  };
  addCtl(program.command('ctl'), output, (ended) => (code = ended));
  try {
    await program.parseAsync(['ctl', ...words], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    code = error.exitCode === 0 ? 0 : 64;
  }
  return { code, out: out.join(''), errors: errors.join('') };
}
